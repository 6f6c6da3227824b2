import { execute } from '../../src/operations/execute.ts';
import { activate } from '../../src/operations/activation/activate.ts';
import { shownTextSchema } from '../../src/operations/catalogue/shown-text.ts';
import type { Context } from '../../src/operations/context.ts';
import { byteLength } from '../../src/base/text/text.ts';
import { qualifiedName, STARTABLE, type BmadRecord } from '../../src/model/record.ts';
import { testCall } from './app.ts';

/** What starting something delivers, by its size. */
interface DeliveredSize {
  kind: string;
  name: string;
  /** What comes before the first file. */
  preamble: number;
  whole: number;
  /** How many answers it takes to read all of it. */
  parts: number;
}

/** Everything that can be started, in the order of the catalogue. */
export async function startable(context: Context): Promise<BmadRecord[]> {
  const { catalogue } = await context.workspace();
  return catalogue.winners.filter(
    (record) => STARTABLE.includes(record.kind) && record.launches === undefined,
  );
}

/** All parts of a delivery, as a host gets them one after the other. */
export async function partsOf(name: string, kind: 'agent' | 'workflow', context: Context): Promise<string[]> {
  const parts: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await execute(activate, { name, kind, cursor }, context, testCall());
    if (!answer.ok) throw new Error(`${name}: ${answer.error.text}`);
    const shown = shownTextSchema.parse(answer.data);
    parts.push(shown.text);
    cursor = shown.next;
  } while (cursor !== undefined);
  return parts;
}

/** What comes before the first file. */
export function preambleOf(text: string): string {
  const start = text.indexOf('\n## File ');
  return start < 0 ? text : text.slice(0, start);
}

export async function deliveredSizes(context: Context): Promise<DeliveredSize[]> {
  const sizes: DeliveredSize[] = [];
  for (const record of await startable(context)) {
    const name = qualifiedName(record);
    const parts = await partsOf(name, record.kind === 'agent' ? 'agent' : 'workflow', context);
    sizes.push({
      kind: record.kind,
      name,
      preamble: byteLength(preambleOf(parts.join(''))),
      whole: parts.reduce((sum, part) => sum + byteLength(part), 0),
      parts: parts.length,
    });
  }
  return sizes;
}

/** What no server can do for a model. */
const ITS_OWN = /greet|\bpersona\b|menu|intent|headless|speak|stay in|halt/i;

/** Lines that load the configuration, or ask for an end that is empty, wherever they are. */
const DONE_LINES =
  /^Load (?:and read full )?config from |^- `\w+`(?:, `\w+`)*$|^- `date` as |--key workflow\.on_complete`|^If the resolved `workflow\.on_complete`/;

/** Lines of an agent of version 4 that are done by delivering it: its opening, rules for paths, and its first steps. */
const V4_DONE =
  /^(?:<!-- Powered by BMAD|ACTIVATION-NOTICE: |CRITICAL: Read the full YAML BLOCK |## COMPLETE AGENT DEFINITION |IDE-FILE-RESOLUTION:$| {2}- (?:FOR LATER USE ONLY |Dependencies map to |type=folder |Example: create-doc\.md → |IMPORTANT: Only load these files |STEP \d: (?:Read THIS|Adopt|Load and read `\.bmad-core)|DO NOT: Load any other agent files ))/;

/** Lines of a task of version 4 that load the configuration, or stop for want of a program that can be done without. */
const V4_TASK_DONE =
  /^(?:- (?:Load `\.bmad-[\w-]+\/core-config\.yaml`|If the file does not exist, HALT and inform the user: "core-config|Extract key configurations: )|If the command fails \(|If markdownExploder is set to false|I will now proceed with the manual|Then proceed with the manual method below ONLY|\*\*IMPORTANT: STOP HERE|\d\. (?:Or set|Set) markdownExploder|\d\. Install @kayvan)/;

/** Whether a line of version 4 is done by delivering its text. */
export const isDoneInV4 = (line: string): boolean => V4_DONE.test(line) || V4_TASK_DONE.test(line);

/** Lines of a text that are not delivered, and are neither front matter nor rules for paths nor steps that can be done. */
export function wronglyLeftOut(source: string, whole: string): string[] {
  const [, delivered = ''] = /----- BEGIN \S+ -----\n(.*?)\n----- END /s.exec(whole) ?? [];
  const given = delivered.split('\n');
  let section = 'front matter';
  let at = 0;
  const lines = source.trimEnd().split('\n');
  const wrong = lines.filter((line) => {
    if (/^##? /.test(line)) section = line;
    // A text may have lines in brackets of its own.
    if (line !== given[at] && /^\s*(?:- |<action>)?\[.+\](?:<\/action>)?$/.test(given[at] ?? ''))
      at += given[at + 1] === '' ? 2 : 1;
    if (line === given[at]) {
      at += 1;
      return false;
    }
    const left = leftOutOf(line, given[at] ?? '');
    if (left !== undefined) {
      at += 1;
      return ITS_OWN.test(left);
    }
    if (
      DONE_LINES.test(line) ||
      isDoneInV4(line) ||
      line.trim() === '' ||
      section === 'front matter' ||
      section === '## Conventions'
    )
      return false;
    return section !== '## On Activation' || ITS_OWN.test(line);
  });
  if (/^\[.+\]$/.test(given[at] ?? '')) at += 1;
  // All that was delivered is of the text, in its order.
  return at >= given.length ? wrong : [...wrong, given[at] ?? ''];
}

/** What marks stand for in a line, if the rest of it is as it was. */
function leftOutOf(line: string, given: string): string | undefined {
  const pieces = given.split('[Done.]');
  if (pieces.length === 1) return undefined;
  let at = 0;
  let left = '';
  for (const piece of pieces) {
    const next = line.indexOf(piece, at);
    if (next < 0) return undefined;
    left += line.slice(at, next);
    at = next + piece.length;
  }
  return line.startsWith(pieces[0] ?? '') ? left + line.slice(at) : undefined;
}
