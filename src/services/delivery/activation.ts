import { contentUri } from '../../base/files/paths.ts';
import type { SayStep, Step } from '../../base/step.ts';
import { visible } from '../../base/text/hidden.ts';
import { bullets, byteLength, fenced } from '../../base/text/text.ts';
import { madeOnce, those } from '../../base/values.ts';
import type { FileFault } from '../../catalogue/content-files.ts';
import { type BmadRecord, type Problem, problemText, qualifiedName } from '../../model/record.ts';
import { skillFolder } from './resolve-skill.ts';
import type { WorkflowContext } from './workflow.ts';

/** One document that starts an agent or a workflow. */
export interface Activation {
  record: BmadRecord;
  title: string;
  /** Who it is, how to use it, and the message; only the first part of an answer has it. */
  head: string;
  /** The line of the head that says to start it; not there where it must not be started. */
  lead?: string;
  /** What stands between the head and the files: values, customization, problems. */
  envelope: string;
  /** How many bytes are left for what else is said before the files. */
  room: number;
  /** The same, then the files, then context without room before them. No message changes it, so cursors survive one. */
  body: string;
  problems: Problem[];
  /** Roots, placeholders, module and origin as data, for programs. */
  context: Partial<WorkflowContext>;
  /** What head and body were made of. */
  material: Material;
}

export interface ContextSection {
  title: string;
  body: string;
  /** Whether it has to be known before the files are read, whatever its size. */
  first?: boolean;
}

interface MaterialFile {
  uri: string;
  text: string;
}

/** What a document is made of; each format of BMAD brings its own. */
export interface Material {
  /** What the model cannot know about using the files here; one line each. */
  notes(say: SayStep): string[];
  /** Placeholders the text uses, with their values. */
  values: [string, string][];
  /** Context the model would otherwise have to compute or look up. */
  context(say: SayStep): ContextSection[];
  /** The files to follow, byte for byte, the most important first. */
  files: MaterialFile[];
  /** Where the files they mention can be read. */
  further: string[];
  problems: Problem[];
  /** The texts of its steps and references, which are read later. */
  beside?: readonly string[];
  /** Why it must not be started. */
  halt?: string;
  /** Roots, placeholders, module and origin as data. */
  data?: WorkflowContext;
  /** All values of the module's configuration, for files that are read later. */
  settings?: [string, string][];
}

/** Said of what must not be started. */
export const HALT =
  'HALT: this file cannot be followed. Tell the user what is listed under Problems and do not start it.';

/** What is wrong with the file itself is told with it, and one that nobody can follow is not to be started. */
export function withFaults(material: Material, faults: readonly FileFault[]): Material {
  const [file = ''] = material.files.map(({ uri }) => uri);
  const known = new Set(material.problems.map(problemText));
  const fresh = faults.filter(({ message }) => !known.has(message));
  return {
    ...material,
    problems: [
      ...material.problems,
      ...fresh.map(({ message }) => ({ file: message.split(':', 1)[0] ?? file, message })),
    ],
    ...(faults.some(({ halts }) => halts) ? { halt: HALT } : {}),
  };
}

/** The same with further files, and without the values that its reader has. */
export function withFiles(
  material: Material,
  files: readonly MaterialFile[],
  given: Material['values'],
): Material {
  const isGiven = ([key, value]: [string, string]): boolean =>
    given.some(([name, known]) => name === key && known === value);
  return {
    ...material,
    values: material.values.filter((each) => !isGiven(each)),
    files: [...material.files, ...files],
  };
}

/** What is kept for old names only says so first; what forwards to another is not delivered itself. */
function outdated({ name, deprecated, description }: BmadRecord): string | undefined {
  if (deprecated === undefined) return undefined;
  const why = description.replace(/^deprecated[\s:—–-]*/i, '');
  return `> \`${name}\` is deprecated${why === '' ? '.' : `: ${why}`}`;
}

/** What comes before the files is at most this long, or as long as what must be there; other context follows the files. */
const PREAMBLE = 1_500;

/**
 * Assembles what the model cannot find out alone: the message, the values of placeholders, the resolved context, the
 * files themselves, and where the files they mention can be read. Files are delivered unchanged.
 */
export function composeActivation(
  record: BmadRecord,
  message: string | undefined,
  material: Material,
  say: SayStep,
  composed = unchanging(record, material),
): Activation {
  const { problems, halt } = material;
  const { title, about, envelope, body } = composed(say);
  const head = joined([
    ofAnotherVersion(record, material.data?.originInfo),
    outdated(record),
    about,
    messageSection(record.kind === 'agent' ? WAITING : '', message),
  ]);
  return {
    record,
    title,
    head,
    ...(halt === undefined ? { lead: lead(record.kind) } : {}),
    envelope,
    room: roomBeside(head, envelope, message),
    body,
    problems,
    context: material.data ?? {},
    material,
  };
}

/** An agent that no file describes, as it is to be played. */
interface Unwritten {
  handle: string;
  title: string;
  /** Where its persona comes from. */
  note: string;
  persona: string;
}

/** The same for an agent without a file: what comes before its persona, the persona, and the room between them. */
export function composeUnwritten(
  { handle, title, note, persona }: Unwritten,
  message: string | undefined,
  values: Material['values'],
): Pick<Activation, 'head' | 'body' | 'room'> {
  const head = joined([
    aboutText(title, `agent ${handle}`, lead('agent', 'text'), [note]),
    messageSection('', message),
  ]);
  const envelope = valuesSection(values) ?? '';
  return { head, body: joined([envelope, persona]), room: roomBeside(head, envelope, message) };
}

/** Agents of all generations are told to greet and to wait; a message that comes with them has ended the waiting. */
const WAITING = "Where the file below waits for the user's input, this message is that input.";

function messageSection(rule: string, message: string | undefined): string | undefined {
  return section('Message from the user', message && joined([fenced(message, 'text'), rule]));
}

const aboutText = (title: string, named: string, start: string, notes: readonly string[]): string =>
  joined([`# ${title} (${named})`, start, bullets(notes)]);

const valuesSection = (values: Material['values']): string | undefined =>
  section('Values', bullets(values.map(([key, value]) => `\`{${key}}\`: ${value}`)));

/** The message is the user's, and counts for nothing. */
const roomBeside = (head: string, envelope: string, message = ''): number =>
  PREAMBLE - byteLength(head) - byteLength(envelope) + byteLength(message) - 4;

/** What an activation says whatever the message is. The same material says the same in the words of the same caller. */
export const unchanging = (record: BmadRecord, material: Material) =>
  madeOnce((say: SayStep) => composedNow(record, material, say));

function composedNow(
  record: BmadRecord,
  { notes, values, context, files, problems, halt, data, beside = [] }: Material,
  say: SayStep,
) {
  const title =
    [record.displayName ?? record.name, record.icon].filter(Boolean).join(' ') +
    (record.title === undefined ? '' : `, ${record.title}`);
  const texts = [...files.map(({ text }) => text), ...beside];
  const about = aboutText(title, `${record.kind} ${qualifiedName(record)}`, halt ?? lead(record.kind), [
    ...provenance(record, data?.originInfo, say),
    ...notes(say),
    ...ledgerNote(record.name, texts, say),
  ]);
  const sections = context(say);
  const needed = [
    valuesSection(values),
    ...sections.filter(({ first }) => first === true).map(asSection),
    section('Problems', bullets(problems.map(problemText))),
  ].filter((text) => text !== undefined);
  let room = PREAMBLE - [about, ...needed].reduce((sum, text) => sum + byteLength(text) + 2, 0);
  const before: string[] = [];
  const after: string[] = [];
  for (const text of sections.filter(({ first }) => first !== true).map(asSection)) {
    if (text === undefined) continue;
    room -= byteLength(text) + 2;
    (room >= 0 ? before : after).push(text);
  }
  const envelope = joined([...needed, ...before]);
  return { title, about, envelope, body: joined([envelope, ...files.map(fileSection), ...after]) };
}

/** Before all else, because a model takes what it is given for the project's own. */
function ofAnotherVersion(
  { bmadVersion, origin, moduleName }: BmadRecord,
  { projectHas }: Partial<WorkflowContext['originInfo']> = {},
): string | undefined {
  if (projectHas === undefined) return undefined;
  const version = bmadVersion ?? origin.bmadVersion;
  const own = version === undefined ? `the module ${moduleName}` : `BMAD ${version}`;
  return `This comes from ${own}, which is built in; the project has BMAD ${visible(projectHas)}.`;
}

function joined(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join('\n\n');
}

function lead(kind: BmadRecord['kind'], by = 'file'): string {
  return kind === 'agent'
    ? `Become this agent now, following the ${by} below, and stay in character until the user dismisses it.`
    : `Start this ${kind} now, following the ${by} below.`;
}

/** Content of the project and of BMAD itself needs no label, unless it has taken the place of something else. */
function provenance(
  { origin, bmadRelativePath }: BmadRecord,
  { insteadOf, otherwise }: Partial<WorkflowContext['originInfo']> = {},
  say: SayStep,
): string[] {
  const args = { target: contentUri(bmadRelativePath), kind: 'resource', origin: origin.displayName };
  const where = visible(origin.displayName);
  const from =
    origin.git === undefined
      ? `${where}, ${origin.root}`
      : `${origin.git.source}, commit ${origin.git.commit.slice(0, 12)}`;
  return those(
    otherwise !== undefined &&
      `This is the one from ${where}, as asked; otherwise ${visible(otherwise.name)} of ${visible(otherwise.origin)} is served. Read its files from there: ${say({ operation: 'read', args })}.`,
    insteadOf !== undefined && `${where} overrides ${visible(insteadOf)} here.`,
    origin.kind !== 'project' && origin.kind !== 'package' && `From outside the project: ${from}.`,
  );
}

function section(title: string, body: string | undefined): string | undefined {
  return body === undefined || body === '' ? undefined : `## ${title}\n\n${body}`;
}

function asSection({ title, body }: ContextSection): string | undefined {
  return section(title, body);
}

function fileSection({ uri, text }: MaterialFile): string {
  return `## File ${uri}\n\n----- BEGIN ${uri} -----\n${text}${text.endsWith('\n') ? '' : '\n'}----- END ${uri} -----`;
}

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
function ledgerNote(name: string, texts: readonly string[], say: SayStep): string[] {
  // A script of its own is named with the call that stands for it, or is on the disk and does it.
  const hasScript = texts.some((text) => /\bsprint_(?:plan|status)\.py\b/.test(text));
  if (hasScript || !texts.some((text) => LEDGER.test(text))) return [];
  return those(
    `Where the text changes the status of a story, use ${say(SET_STATUS)}.`,
    /(?:^|-)sprint-planning$/.test(name) &&
      `Where it makes the ledger from the epics, use ${say({ operation: 'sprint_plan' })}.`,
    // Where something is built, texts stop at changes that git shows.
    /(?:^|-)(?:build|dev|dev-story)$/.test(name) &&
      'Hidden folders in the output folder are records of this server, not unfinished work.',
  );
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

/** Programs that texts of the custom kit call, and what does their work here, on the same files. */
const INSTEAD: Readonly<Record<string, readonly Omit<Step, 'why'>[]>> = {
  'cc-verify.sh': [{ operation: 'run_completion_contract' }],
  'mem0-bridge.py': [
    { operation: 'recall_structured', args: { query: '…' } },
    { operation: 'remember_structured', args: { type: 'decisions', agent: '…', text: '…' } },
  ],
  'maintenance.py': [],
};

/** What to do where a text runs a program of the kit, which many projects do not have. */
export function kitProgramNotes(text: string, say: SayStep): string[] {
  return Object.entries(INSTEAD).flatMap(([name, steps]) => {
    if (!text.includes(name)) return [];
    return steps.length === 0
      ? [`\`${name}\` need not be run: the memory is kept in order here.`]
      : [`Instead of \`${name}\`: ${steps.map(say).join(', ')}.`];
  });
}
