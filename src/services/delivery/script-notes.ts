import { posix } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { ContextSection } from './activation.ts';
import { skillFolder } from './skill-folder.ts';

/** Scripts whose work the server does before a text is delivered. */
export const DONE_SCRIPTS = new Set([
  'resolve_customization.py',
  'resolve_config.py',
  'render_skill.py',
  'resolve_party.py',
  'resolve_personas.py',
]);

/**
 * What each of BMAD's other scripts does, short enough to be done without it. A text says "never by hand" to keep a file in
 * one form; this is that form, so that both can be obeyed.
 */
const FORMATS: Record<string, (say: SayStep) => string> = {
  'memlog.py': () =>
    '`<workspace>/.memlog.md` is front matter (the fields, `updated: YYYY-MM-DDTHH:MM` last: the time of this write), a blank line, then one line for each entry, `- (type) text`, only ever added at the end; `--by` makes it `(type by who)`, `user` or the name of an agent',
  'lint_spine.py': () =>
    'outside code fences, report TBD, TODO, FIXME, XXX, "similar to AD-n" and unfilled `{tokens}`; AD-n twice or out of order; an AD without Binds, Prevents or Rule; a row of Stack without a version',
  'recon_kit.py': () =>
    '`slug`: the topic in kebab-case put into the pattern; `citations`: each [n] has a row in the source appendix, each row an [n]; `tally`: entries by type, claims by the last `status=` of each `ref`; `staleness`: `pub_date` and the months of its class are before today; `escape-sources`: the appendix as an HTML table, cells escaped, only http(s) links',
  'word_metrics.py': () => 'words between blanks, in all and under each heading (`wc -w`)',
  'pick_methods.py': () =>
    'methods are the rows of `assets/methods.csv` and the `additional_methods`; `random --spread` is one of each category',
  'brain.py': () =>
    'techniques are the rows of `assets/brain-methods.csv` and the `additional_techniques`; `detail` names a file beside it; instead of the page of `html`, choose in chat',
  'list_customizable_skills.py': (say) =>
    `skills that have one: ${say({ operation: 'list', args: { what: 'resources', pattern: '**/customize.toml' } })}`,
  'sprint_plan.py': (say) =>
    `\`generate\`: from the headings Epic N and Story N.M, in order, \`epic-N\`, \`N-M-title-in-kebab-case\` and \`epic-N-retrospective\` in the form of \`sprint-status-template.yaml\`, with the statuses that the file has; \`status\` and \`validate\`: ${say({ operation: 'next' })}`,
  'sprint_status.py': () =>
    '`detect-epic`: the highest epic with a story that is done, the keys of its stories that are not (`pending_stories`), and its `epic-N-retrospective`; `update`: in sprint-status.yaml change only `epic-N-retrospective: done`, `last_updated` and `action_items`, each with `id: "epic-N-retro-item-K-action-in-kebab-case"` (K counts all items), `epic`, `action`, `owner`, `status: open` and `ref: "path of the retrospective"`; the status of an existing item is changed by its `id`',
  'git_evidence.py': () =>
    '`git log --numstat --no-renames RANGE`, without merges; sum added and deleted for each file, and match story ids in the subjects',
};

interface ScriptParts {
  record: BmadRecord;
  /** The files of the skill's folder. */
  files: readonly string[];
  /** BMAD's shared scripts. */
  scripts: readonly string[];
  /** Names of scripts the project has installed itself. */
  installedScripts: readonly string[];
}

/** The scripts that a skill names. */
export interface NamedScripts {
  /** The folder on disk where its own are. */
  place: string | undefined;
  /** Those that cannot be run, for want of a file on disk, with their addresses. */
  missing: ReadonlyMap<string, string>;
}

export function namedScripts(parts: ScriptParts, texts: readonly string[]): NamedScripts {
  const { record, files, scripts, installedScripts } = parts;
  const folder = skillFolder(record);
  const isOnDisk = record.origin.kind === 'project';
  const missing = new Map<string, string>();
  let place: string | undefined;
  for (const script of new Set(texts.flatMap(scriptsIn))) {
    const own = `${folder}/scripts/${script}`;
    if (files.includes(own)) {
      if (isOnDisk) place = posix.join(posix.dirname(record.absolutePath), 'scripts');
      else missing.set(script, contentUri(own));
    } else if (scripts.includes(`scripts/${script}`) && !installedScripts.includes(script))
      missing.set(script, contentUri(`scripts/${script}`));
  }
  return { place, missing };
}

/** Whether a script is done without, so that nobody has to read it. */
export function isDoneWithout(script: string, { missing }: NamedScripts): boolean {
  return FORMATS[script] !== undefined && missing.has(script);
}

/** Where the scripts are that a text names, or that they are not there. */
export function scriptNotes({ place, missing }: NamedScripts, text: string): string[] {
  const where = [
    ...(inText(missing, text).length > 0 ? ['brackets'] : []),
    ...(inText(missing, text).length < missing.size ? ['Scripts'] : []),
  ];
  return [
    ...(place === undefined ? [] : [`Scripts as \`{skill-root}/scripts/x\`: run them in ${place}.`]),
    ...(missing.size === 0 ? [] : [`Its scripts are not on this disk: see ${where.join(' and ')}.`]),
  ];
}

type Missing = NamedScripts['missing'];

/** The scripts that a text names itself. */
function inText(missing: Missing, text: string): string[] {
  const named = new Set(scriptsIn(text));
  return [...missing.keys()].filter((script) => named.has(script));
}

function instead(script: string, missing: Missing, say: SayStep): string {
  return FORMATS[script]?.(say) ?? `do what it does; it is ${missing.get(script) ?? ''}`;
}

/** A text with what to do instead of its scripts, in a line where each is named first: who reads on needs it there. */
export function withScriptLines(text: string, { missing }: NamedScripts, say: SayStep): string {
  const found = inText(missing, text).map((script) => ({
    script,
    at: endOfBlock(text, text.indexOf(script)),
  }));
  let told = text;
  for (const { script, at } of found.sort((a, b) => b.at - a.at))
    told = `${told.slice(0, at)}\n[Instead of \`${script}\`, do this yourself: ${instead(script, missing, say)}.]${told.slice(at)}`;
  return told;
}

/** The end of the line that something is in; of a table or of code the end of all of it. */
function endOfBlock(text: string, place: number): number {
  const lineEnd = (from: number): number => {
    const end = text.indexOf('\n', from);
    return end < 0 ? text.length : end;
  };
  const fences = text.slice(0, place).match(/^ {0,3}```/gm) ?? [];
  const close = fences.length % 2 === 1 ? text.slice(place).search(/\n {0,3}```/) : -1;
  const from = close < 0 ? place : place + close + 1;
  let end = lineEnd(from);
  while (text[text.lastIndexOf('\n', end - 1) + 1] === '|' && text[end + 1] === '|') end = lineEnd(end + 1);
  return end;
}

/** How to do without the scripts that are not on disk and that only the steps of a text name. */
export function scriptSection({ missing }: NamedScripts, text: string, say: SayStep): ContextSection[] {
  const here = new Set(inText(missing, text));
  const others = [...missing.keys()].filter((script) => !here.has(script));
  if (others.length === 0) return [];
  const lines = others.map((script) => `- \`${script}\`: ${instead(script, missing, say)}.`);
  return [
    {
      title: 'Scripts',
      body: `What they do, in the form they do it. Where the text says to run one, or to leave a file to it, do this yourself:\n\n${lines.join('\n')}`,
    },
  ];
}

function scriptsIn(text: string): string[] {
  const names: string[] = [];
  for (let at = text.indexOf('.py'); at >= 0; at = text.indexOf('.py', at + 3)) {
    let start = at;
    while (start > 0 && /[\w-]/.test(text.charAt(start - 1))) start -= 1;
    if (start < at && !/\w/.test(text.charAt(at + 3))) names.push(text.slice(start, at + 3));
  }
  return names.filter((script) => !DONE_SCRIPTS.has(script));
}
