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

const SET_STATUS = { operation: 'story_status', open: ['story', 'status'] };

/** Names by which texts of all versions speak of the ledger, and what version 4 calls the status that it has instead. */
const LEDGER =
  /\bsprint-status\.ya?ml\b|\{sprint_status(?:_file)?\}|\bsync-sprint-status\b|\bstory status\b/i;

/** The call for what a text has a model write into the ledger or the status of a story, where it does. */
export function ledgerNote(name: string, texts: readonly string[], say: SayStep): string[] {
  // A script of its own is named with the call that stands for it, or is on the disk and does it.
  const hasScript = texts.some((text) => /\bsprint_(?:plan|status)\.py\b/.test(text));
  if (hasScript || !texts.some((text) => LEDGER.test(text))) return [];
  return [
    `Where the text changes the status of a story, use ${say(SET_STATUS)}.`,
    ...(/(?:^|-)sprint-planning$/.test(name)
      ? [`Where it makes the ledger from the epics, use ${say({ operation: 'sprint_plan' })}.`]
      : []),
    // Where something is built, texts stop at changes that git shows.
    ...(/(?:^|-)(?:build|dev|dev-story)$/.test(name)
      ? ['Hidden folders in the output folder are records of this server, not unfinished work.']
      : []),
  ];
}

/** How a step is written; nothing where this caller cannot take it. */
const taken = (say: SayStep, step: Parameters<SayStep>[0]): string | undefined => (say.ifTaken ?? say)(step);

/**
 * What each of BMAD's other scripts does, short enough to be done without it. A text says "never by hand" to keep a file in
 * one form; this is that form, so that both can be obeyed.
 */
const FORMATS: Record<string, (say: SayStep) => string> = {
  'memlog.py': (say) =>
    `${taken(say, { operation: 'memlog', open: ['workspace', 'type', 'text'] }) ?? 'a line of its log for each entry, in the form of those before it'}; \`init\` and \`set\` take \`fields\`, a list of \`key=value\``,
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
    `\`generate\`: ${say({ operation: 'sprint_plan' })}; \`--set\`: ${say(SET_STATUS)}; \`status\` and \`validate\`: ${say({ operation: 'next' })}`,
  'sprint_status.py': (say) =>
    `\`detect-epic\`: the highest epic with a done story, its other stories (\`pending_stories\`) and its \`epic-N-retrospective\`; \`update\`: ${say({ operation: 'story_status', args: { story: 'epic-N-retrospective', status: 'done' } })}, and in \`action_items\` of sprint-status.yaml each item with \`id: "epic-N-retro-item-K-action-in-kebab-case"\` (K counts all), \`epic\`, \`action\`, \`owner\`, \`status: open\`, \`ref: "path of the retrospective"\``,
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

/** The scripts that a skill names and that cannot be run, for want of a file on disk, with their addresses. */
export type MissingScripts = ReadonlyMap<string, string>;

export function missingScripts(parts: ScriptParts, texts: readonly string[]): MissingScripts {
  const { record, files, scripts, installedScripts } = parts;
  const folder = skillFolder(record);
  const missing = new Map<string, string>();
  for (const script of new Set(texts.flatMap(scriptsIn))) {
    const own = `${folder}/scripts/${script}`;
    if (files.includes(own)) {
      if (record.origin.kind !== 'project') missing.set(script, contentUri(own));
    } else if (scripts.includes(`scripts/${script}`) && !installedScripts.includes(script))
      missing.set(script, contentUri(`scripts/${script}`));
  }
  return missing;
}

/** Whether a script is done without, so that nobody has to read it. */
export function isDoneWithout(script: string, missing: MissingScripts): boolean {
  return FORMATS[script] !== undefined && missing.has(script);
}

/** What replaces the scripts that are not on disk, in the form in which they do it. */
export function scriptSection(missing: MissingScripts, say: SayStep): ContextSection[] {
  if (missing.size === 0) return [];
  const lines = [...missing].map(
    ([script, uri]) =>
      `- \`${script}\`: ${FORMATS[script]?.(say) ?? `do what it does; its source is ${uri}`}.`,
  );
  return [
    {
      title: 'Scripts',
      body: `These are not on this disk. Where the text runs one, do this instead:\n\n${lines.join('\n')}`,
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
