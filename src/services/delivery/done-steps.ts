import { field, isTable, type Table } from '../../base/parse/parse.ts';

/** What is known when a text is delivered. */
interface Known {
  /** The merged customization. */
  customization: Table;
  /** Whether there is a value of this name. */
  hasValue(name: string): boolean;
}

/** A sentence of BMAD's texts that asks for something the server has done, or for nothing at all. */
interface DoneSentence {
  is: RegExp;
  /** Settings that have to be empty, beside those that the sentence names as `{workflow.x}`. */
  empty?: readonly string[];
}

const HOOKS = ['activation_steps_prepend', 'activation_steps_append'];

/**
 * Sentences, as they are when line breaks are spaces. Each is known to the letter: a step with one word that is not known
 * stays as it is.
 */
const SENTENCES: readonly DoneSentence[] = [
  {
    is: /(?:\*\*)?Resolve customization:(?:\*\*)? `uv run [^`]+\/resolve_customization\.py [^`]+`(?: \(on failure read `\{skill-root\}\/customize\.toml`, use defaults\))?\./y,
  },
  { is: /Run: `uv run [^`]+\/resolve_customization\.py [^`]+`/y },
  {
    is: /On failure, (?:use a subagent to )?read `\{skill-root\}\/customize\.toml` directly(?: and use defaults| with defaults)?\./y,
  },
  {
    is: /\*\*If the script fails\*\*, resolve the `\w+` block yourself by reading these three files in base → team → user order and applying the same structural merge rules as the resolver: 1\. `\{skill-root\}\/customize\.toml` — defaults 2\. `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.toml` — team overrides 3\. `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.user\.toml` — personal overrides Any missing file is skipped\. Scalars override, tables deep-merge, arrays of tables keyed by `code` or `id` replace matching entries and append new entries, and all other arrays append\./y,
  },
  {
    is: /(?:Execute|Run) (?:each )?(?:entry in )?`\{\w+\.activation_steps_\w+\}`(?:, then `\{\w+\.activation_steps_\w+\}`)?(?: entry)?(?: in order)?(?: before proceeding)?\./y,
  },
  {
    is: /Treat (?:every|each) (?:entry in )?`\{\w+\.persistent_facts\}`(?: entry)? as foundational context(?: you carry)?(?: for the rest of the (?:workflow run|run|session))?\. Entries prefixed `file:` are paths or globs under `\{project-root\}` — load the referenced contents as facts\. All other entries are facts verbatim\./y,
  },
  {
    is: /Treat (?:each )?`\{\w+\.persistent_facts\}`(?: entry)? as foundational context \((?:[^()`]|`[^`]*`)*\)\./y,
  },
  {
    is: /Hold `\{\w+\.persistent_facts\}` as standing context — empty unless the user opted in — and consult `\{\w+\.external_sources\}` on demand\./y,
  },
  {
    is: /`\{\w+\.external_sources\}` is an org-configured registry of internal tools(?: \([^()]*\))?; consult them alongside generic web research on the same triggers(?: in `[^`]+`)?, org tools preferred when their directive matches\.(?: If a named tool is unavailable at runtime, fall back to standard behavior and note the gap when relevant\.)?/y,
  },
  {
    is: /Load `\{project-root\}\/_bmad\/\w+\/config\.yaml` \((?:and|\+) `config\.user\.yaml` if present\)(?: to resolve|\. Resolve) `\{\w+\}`(?:(?:, and|,| and) `\{\w+\}`)*\.(?: Missing keys → neutral defaults; never block\.)?/y,
  },
  {
    is: /Resolve (?:central )?config: `uv run [^`]+\/resolve_config\.py [^`]+`(?: \(merges (?:[^()`]|`[^`]*`)*\))?[.;] [Ff]rom the merged JSON resolve `\{\w+\}`(?: \(under `[\w.]+`\))?(?:(?:, and|,| and) `\{\w+\}`(?: \(under `[\w.]+`\))?)*(?:; missing keys take neutral defaults, never block)?\./y,
  },
  {
    is: /Activation is complete\. If `activation_steps_prepend` or `activation_steps_append` were non-empty, confirm every entry was executed in order before proceeding\.(?: Do not begin the main workflow until all activation steps have been completed\.)?/y,
    empty: HOOKS,
  },
  {
    is: /\*\*Resolve the workflow block\.\*\* Run `uv run [^`]+\/resolve_customization\.py [^`]+`\. If it fails, resolve `\{workflow\.\*\}` yourself by reading `\{skill-root\}\/customize\.toml`, then `\{project-root\}\/_bmad\/custom\/\{skill-name\}\.toml`, then `\.user\.toml` in that order, merging base → team → user \((?:[^()`]|`[^`]*`)*\)\./y,
  },
  {
    is: /\*\*Run (?:prepend|append) steps\*\* — execute each entry in `\{\w+\.activation_steps_\w+\}` in order\./y,
  },
  {
    is: /\*\*Load persistent facts\*\* — treat every `\{\w+\.persistent_facts\}` entry as standing context\. `file:` entries are paths\/globs under `\{project-root\}` whose contents load as facts; all others are literal facts\./y,
  },
  // Rendered texts have the settings in them.
  {
    is: /Execute each of these steps in order(?: before proceeding)? \(`_None\._` means skip\): _None\._/y,
  },
  {
    is: /Treat every entry below as foundational context you carry for the rest of the workflow run\. Entries prefixed `file:` are paths or globs under `\{project-root\}` (?:--|—) load the referenced contents as facts\. All other entries are facts verbatim \(`_None\._` means none\): _None\._/y,
  },
];

/** Rules for paths, which the heading gives for this place. */
const PATH_RULES: readonly RegExp[] = [
  /^- Bare paths \(e\.g\. `[^`]+`\) resolve from the skill root\.$/,
  /^- `\{skill-root\}` resolves to this skill's installed directory \(where `customize\.toml` lives\)\.$/,
  /^- `\{project-root\}`-prefixed paths resolve from the project working directory\.$/,
  /^- `\{skill-name\}` resolves to the skill directory's basename\.$/,
];

/** Names that stand for places. */
const PLACES = new Set(['project-root', 'skill-root', 'skill-name']);

/**
 * The text of a skill without what the server has done: its front matter, the rules for paths, and the steps of its
 * activation whose whole effect is in the answer. What stays is as it was, and a line says which steps are not there.
 */
export function withoutDone(text: string, known: Known): string {
  const rest = withoutDoneSteps(withoutPathRules(withoutFrontMatter(text)), known);
  return withoutEmptyEnd(withoutConfigLoad(rest, known.hasValue), known);
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
  const kept = blocks.filter((block) => !isDone(block, known));
  const done = blocks.filter((block) => !kept.includes(block));
  if (done.length === 0) return text;
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
  const left = kept.join('');
  const gap = rest === '' || left === '' || left.endsWith('\n\n') ? '' : '\n';
  return `${text.slice(0, section.bodyStart)}\n${note}\n\n${left}${gap}${rest}`;
}

interface Found {
  start: number;
  bodyStart: number;
  end: number;
  body: string;
}

/** A section by its heading, up to the next of its level. */
function sectionOf(text: string, heading: string): Found | undefined {
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

function isDone(block: string, known: Known): boolean {
  const words = block
    .replace(/^### [^\n]*\n/, '')
    .replace(/^\d+\. /, '')
    .replace(/\s+/g, ' ')
    .trim();
  for (let at = 0; at < words.length;) {
    const length = doneLength(words, at, known);
    if (length === 0) return false;
    at += length + 1;
  }
  return words !== '';
}

/** How long the sentence at a place is, if it is done. */
function doneLength(words: string, at: number, known: Known): number {
  for (const { is, empty = [] } of SENTENCES) {
    is.lastIndex = at;
    const sentence = is.exec(words)?.[0];
    if (sentence === undefined) continue;
    const settings = [...sentence.matchAll(/\{(\w+)\.(\w+)\}/g)];
    const names = [...sentence.matchAll(/\{([\w-]+)\}/g)].map(([, name = '']) => name);
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

/** Workflows begin with it too; what its list orders beside the loading is no name, and stays. */
const CONFIG_LOAD =
  /Load (?:and read full )?config from (`?)(?:\{main_config\}|\{project-root\}\/[\w-]+\/\w+\/config\.yaml)\1 and resolve:\n\n((?:- (?:`\w+`(?:, `\w+`)*|`date` as (?:a )?system-generated current datetime)\n)+)/;

/** The text of a workflow without the loading of the configuration, if all that it loads is known. */
export function withoutConfigLoad(text: string, hasValue: Known['hasValue']): string {
  return text.replace(CONFIG_LOAD, (step: string, _mark: string, names: string) =>
    [...names.matchAll(/`(\w+)`/g)].every(([, name = '']) => name === 'date' || hasValue(name))
      ? `${LOADED_MARK}\n`
      : step,
  );
}

const ON_COMPLETE =
  /Run: `uv run [^`]+\/resolve_customization\.py [^`]+ --key workflow\.on_complete`(?:\n\nIf the resolved `workflow\.on_complete`| — if the resolved value) is non-empty, follow it as the final terminal instruction before exiting\./g;

/** What is to be done at the end, where nothing is. */
function withoutEmptyEnd(text: string, { customization }: Known): string {
  const table = field(customization, 'workflow');
  const end = isTable(table) ? table['on_complete'] : undefined;
  const isNothing = end === '' || (Array.isArray(end) && end.length === 0);
  return isNothing ? text.replace(ON_COMPLETE, '[Nothing to run: on_complete is empty.]') : text;
}
