import { appendLine } from '../../base/files/file-shared.ts';
import { modifiedInside, realFolder } from '../../base/files/files.ts';
import type { Kit } from '../kit.ts';
import { asLine } from '../kit-text.ts';

const TYPE =
  /^(?:ACTIVATED|ACTION|DECISION|REMEMBER|RECALL|HANDOFF|CHECKPOINT|TOOL|RULE|WARN|ERROR|GIT-COMMIT|FAILURE)(?:[:→].*)?$/;

export interface TraceLine {
  date: string;
  agent?: string | undefined;
  type: string;
  text: string;
  line: number;
}

/** The lines of a trace, with the type before or after the agent; commit headings are skipped. */
export function traceIn(text: string): TraceLine[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const [, date = '', first = '', second, rest = ''] =
      /^\[(\d{4}-\d{2}-\d{2}[^\]]{0,30})\]\s*\[([^\]]{1,100})\]\s*(?:\[([^\]]{1,100})\]\s*)?(.*)/s.exec(
        line,
      ) ?? [];
    if (date === '') return [];
    const isTyped = TYPE.test(first);
    const type = isTyped ? first : (second ?? '');
    const agent = isTyped ? second : first;
    return [{ date, type, text: rest, line: index + 1, ...(agent === undefined ? {} : { agent }) }];
  });
}

/** Where the project keeps its trace; nothing when it keeps none. */
export async function tracePath(kit: Kit): Promise<string | undefined> {
  const [folder, name] =
    kit.family === 'bmad' ? ['_bmad-output', 'BMAD_TRACE.md'] : ['_grimoire-output', 'Grimoire_TRACE.md'];
  for (const path of [`${folder}/${name}`, name])
    if ((await modifiedInside(kit.root, path)) !== undefined) return path;
  return undefined;
}

/** Adds a line to the trace of a project that keeps one. Answers the file. */
export async function appendTrace(
  kit: Kit,
  { agent, type, text }: { agent: string; type: string; text: string },
  now: Date,
): Promise<string | undefined> {
  const path = await tracePath(kit);
  if (path === undefined) return undefined;
  const root = (await realFolder(kit.root)) ?? kit.root;
  const moment = now.toISOString().replace(/\.\d+Z$/, 'Z');
  await appendLine(root, path, `[${moment}] [${asLine(agent)}] [${type}] ${asLine(text)}`);
  return path;
}
