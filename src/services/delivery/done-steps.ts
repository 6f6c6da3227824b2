import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { DONE_SENTENCES } from './done-sentences.ts';

/** What is known when a text is delivered. */
interface Known {
  /** The merged customization. */
  customization: Table;
  /** Whether there is a value of this name. */
  hasValue(name: string): boolean;
}

/** Rules for paths, which the heading gives for this place. */
const PATH_RULES: readonly RegExp[] = [
  /^- Bare paths \(e\.g\. `[^`]+`\) resolve from the skill root\.$/,
  /^- `\{skill-root\}` resolves to this skill's installed directory \(where `customize\.toml` lives\)\.$/,
  /^- `\{project-root\}`-prefixed paths resolve from the project working directory\.$/,
  /^- `\{skill-name\}` resolves to the skill directory's basename\.$/,
];

/** Names that stand for places. */
const PLACES = new Set(['project-root', 'skill-root', 'skill-name']);

/** Stands where sentences are left out of a step that says something else too. */
const DONE_MARK = '[Done.]';

/**
 * The text of a skill without what the server has done: its front matter, the rules for paths, and the steps of its
 * activation whose whole effect is in the answer. What stays is as it was; a line says which steps are not there, and a mark
 * stands for what is left out of one.
 */
export function withoutDone(text: string, known: Known): string {
  const loaded = withoutConfigLoad(withoutPathRules(withoutFrontMatter(text)), known.hasValue);
  return withoutEmptyEnd(withoutDoneOrders(withoutDoneSteps(loaded, known), known), known);
}

/** A name and a description say when to start something, which has happened. */
function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n(?:(?:name|description): [^\r\n]*\r?\n)+---\r?\n\s*/, '');
}

function withoutPathRules(text: string): string {
  const section = sectionOf(text, '## Conventions');
  const lines = section?.body.trim().split(/\r?\n/) ?? [];
  const areKnown = lines.every((line) => PATH_RULES.some((rule) => rule.test(line)));
  return section === undefined || !areKnown ? text : text.slice(0, section.start) + text.slice(section.end);
}

function withoutDoneSteps(text: string, known: Known): string {
  const section = sectionOf(text, '## On Activation');
  if (section === undefined) return text;
  const blocks = blocksOf(section.body);
  const left = blocks.map((block) => withoutSentences(block, known));
  const done = blocks.filter((_block, index) => isEmptyStep(left[index] ?? ''));
  const kept = left.filter((block) => !isEmptyStep(block));
  if (done.length === 0) return replaced(text, section, left);
  const numbers = done.flatMap((block) => numberOf(block) ?? []);
  const which =
    numbers.length === 0
      ? 'What is not here'
      : `${numbers.length === 1 ? 'Step' : 'Steps'} ${numbers.join(', ')}`;
  const note =
    kept.length === 0
      ? '[All done.]'
      : `[${which} ${numbers.length > 1 ? 'are' : 'is'} done. Do the rest, in order, before you continue.]`;
  const rest = text.slice(section.end);
  const last = kept.at(-1) ?? '\n\n';
  const gap = rest === '' || last.endsWith('\n\n') ? '' : '\n';
  return `${text.slice(0, section.bodyStart)}\n${note}\n\n${kept.join('')}${gap}${rest}`;
}

/** Some texts begin with their work at once; what is done of that is marked. */
function withoutDoneOrders(text: string, known: Known): string {
  const section = sectionOf(text, '## Execution');
  if (section === undefined) return text;
  const left = blocksOf(section.body).map((block) => withoutSentences(block, known));
  return replaced(text, section, left);
}

function replaced(text: string, { bodyStart, end, body }: TextSection, blocks: readonly string[]): string {
  const gap = /^\s*/.exec(body)?.[0] ?? '';
  return text.slice(0, bodyStart) + gap + blocks.join('') + text.slice(end);
}

interface TextSection {
  start: number;
  bodyStart: number;
  end: number;
  body: string;
}

/** A section by its heading, up to the next of its level. */
function sectionOf(text: string, heading: string): TextSection | undefined {
  const start = `\n${text}`.indexOf(`\n${heading}\n`);
  if (start === -1) return undefined;
  const bodyStart = start + heading.length + 1;
  const next = /^#{1,2} /m.exec(text.slice(bodyStart));
  const end = next === null ? text.length : bodyStart + next.index;
  return { start, bodyStart, end, body: text.slice(bodyStart, end) };
}

/** Parts of an activation that are done or not: `### Step 1`, `1.`, or a paragraph; together they are the whole. */
function blocksOf(body: string): string[] {
  const start = body.search(/\S/);
  if (start < 0) return [];
  const own = body.slice(start);
  return own.split(/^### /m.test(own) ? /^(?=### )/m : /^(?=\d+\. |(?<=\n\n)\S)/m);
}

function numberOf(block: string): string | undefined {
  return /^(?:### Step )?(\d+)[.:] /.exec(block)?.[1];
}

/** The heading or the number of a step. */
const STEP_NAME = /^(?:### [^\n]*\n\s*|\d+\. )?/;

/** Whether nothing is left of a step. */
function isEmptyStep(block: string): boolean {
  const [name = ''] = STEP_NAME.exec(block) ?? [];
  const words = block.slice(name.length).trim();
  return words === DONE_MARK || words === LOADED_MARK;
}

/** A step with a mark for the sentences that are done; what follows each other gets one. */
function withoutSentences(block: string, known: Known): string {
  const [name = ''] = STEP_NAME.exec(block) ?? [];
  let left = name;
  let isMarked = false;
  for (let at = name.length; at < block.length;) {
    const length = doneLength(block, at, known);
    const next = length === 0 ? sentenceEnd(block, at) : at + length;
    const gap = /^\s*/.exec(block.slice(next))?.[0] ?? '';
    if (length === 0) left += block.slice(at, next) + gap;
    else if (isMarked) left = left.trimEnd() + gap;
    else left += DONE_MARK + gap;
    isMarked = length > 0;
    at = next + gap.length;
  }
  return left;
}

/** Where the words that begin at a place end: a full stop, or the end of a line. */
function sentenceEnd(text: string, at: number): number {
  const end = /[.:](?=\s)|\n|$/.exec(text.slice(at));
  return at + Math.max(1, (end?.index ?? 0) + (end?.[0] === '\n' ? 0 : (end?.[0].length ?? 0)));
}

/** How long the sentence at a place is, if it is done. */
function doneLength(words: string, at: number, known: Known): number {
  for (const { is, empty = [], isPlain } of DONE_SENTENCES) {
    is.lastIndex = at;
    const sentence = is.exec(words)?.[0];
    if (sentence === undefined) continue;
    const settings = [...sentence.matchAll(/\{(\w+)\.(\w+)\}/g)];
    const names = [...sentence.matchAll(isPlain ? /`(\w+)`/g : /\{([\w-]+)\}/g)].map(([, name = '']) => name);
    const isSo =
      settings.every(([, table = '', name = '']) => isEmpty(name, [table], known)) &&
      empty.every((name) => isEmpty(name, ['workflow', 'agent'], known)) &&
      names.every((name) => PLACES.has(name) || known.hasValue(name));
    return isSo ? sentence.length : 0;
  }
  return 0;
}

function isEmpty(name: string, tables: readonly string[], { customization }: Known): boolean {
  const values = tables
    .map((key) => field(customization, key))
    .flatMap((table) => (isTable(table) && name in table ? [table[name]] : []));
  return values.length > 0 && values.every((value) => Array.isArray(value) && value.length === 0);
}

/** Stands where a text loads the configuration. */
export const LOADED_MARK = '[Done: the configuration is loaded, see Values.]';

/** An agent of 6.0 is told to load the configuration before all else. */
const LOADED =
  /(<step n="\d+">)🚨 IMMEDIATE ACTION REQUIRED - BEFORE ANY OUTPUT:\s+- Load and read \{project-root\}\/[\w-]+\/\w+\/config\.yaml NOW\s+- Store ALL fields as session variables: (\{\w+\}(?:, \{\w+\})*)\s+- VERIFY: If config not loaded, STOP and report error to user\s+- DO NOT PROCEED to step \d+ until config is successfully loaded and variables stored\s+(<\/step>)/;

/** The text of a compiled agent without its front matter and the loading of the configuration, if all of it is known. */
export function withoutLoading(text: string, hasValue: Known['hasValue']): string {
  return withoutFrontMatter(text).replace(LOADED, (step: string, start: string, names: string, end: string) =>
    names.split(', ').every((name) => hasValue(name.slice(1, -1))) ? `${start}${LOADED_MARK}${end}` : step,
  );
}

/** Workflows begin with it too; what its list orders beside the loading is no name, and stays, as does what a value is for. */
const CONFIG_LOAD =
  /Load (?:and read full )?config from (`?)(?:\{main_config\}|\{project-root\}\/[\w-]+\/\w+\/config\.yaml)\1 and resolve:\n\n?(?:((?:- (?:`\w+`(?:, `\w+`)*|`date` as (?:a )?system-generated current datetime)\n)+)|((?:- Use `\{\w+\}` for [^\n]+\n)+))/;

/** The text of a workflow without the loading of the configuration, if all that it loads is known. */
export function withoutConfigLoad(text: string, hasValue: Known['hasValue']): string {
  return text.replace(CONFIG_LOAD, (step: string, _mark: string, names = '', uses = '') =>
    [...(names + uses).matchAll(/`\{?(\w+)\}?`/g)].every(([, name = '']) => name === 'date' || hasValue(name))
      ? `${LOADED_MARK}\n${uses}`
      : step,
  );
}

/** Whether settings have nothing to be run at the end. */
export function isEndEmpty(customization: Table): boolean {
  const table = field(customization, 'workflow');
  const end = isTable(table) ? table['on_complete'] : undefined;
  return end === '' || (Array.isArray(end) && end.length === 0);
}

const ON_COMPLETE =
  /Run: `(?:uv run|python3) [^`]+\/resolve_customization\.py [^`]+ --key workflow\.on_complete`(?:\n\nIf the resolved `workflow\.on_complete`| — if the resolved value) is non-empty, follow it as the final terminal instruction before exiting\./g;

/** What is to be done at the end, where nothing is. */
function withoutEmptyEnd(text: string, { customization }: Known): string {
  return isEndEmpty(customization)
    ? text.replace(ON_COMPLETE, '[Nothing to run: on_complete is empty.]')
    : text;
}
