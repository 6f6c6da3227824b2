import { headingIn } from '../../base/text/markdown.ts';
import type { Judgement } from './document.ts';

/** The verdict of a readiness report: a report of a plan that is not ready does not finish the gate. */
export function readinessVerdict(file: string, text: string): Judgement | undefined {
  const lines = text.split(/\r?\n/);
  const heading = lines.findIndex((line) =>
    /overall readiness|readiness status|décision|verdict/i.test(headingIn(line)?.title ?? ''),
  );
  const inLine = lines.findIndex((line) => /(?:overall|readiness)[^:]{0,40}status[*_]*\s*:/i.test(line));
  const from = heading === -1 ? inLine : heading + 1;
  if (from === -1) return undefined;
  for (const [index, line] of lines.entries()) {
    if (index < from || index > from + 6) continue;
    const word = /\b(NOT[ _-]READY|NEEDS[ _-]WORK|READY(?: WITH [A-Z]+)?|PASS|CONCERNS|FAIL)\b/.exec(
      line,
    )?.[1];
    if (word === undefined) continue;
    const good = /^READY|^PASS$|^CONCERNS$/.test(word);
    return {
      state: good ? 'complete' : 'in progress',
      status: word,
      evidence: { file, line: index + 1, says: `verdict ${word}` },
    };
  }
  return undefined;
}
