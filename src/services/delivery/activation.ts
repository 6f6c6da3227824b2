import { contentUri } from '../../base/files/paths.ts';
import type { SayStep } from '../../base/step.ts';
import { visible } from '../../base/text/hidden.ts';
import { bullets, byteLength, fenced } from '../../base/text/text.ts';
import type { FileFault } from '../../catalogue/file-faults.ts';
import { ledgerNote } from './script-notes.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { problemText, qualifiedName, type BmadRecord, type Problem } from '../../model/record.ts';

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
    ...(faults.some(({ halts }) => halts)
      ? {
          halt: 'HALT: this file cannot be followed. Tell the user what is listed under Problems and do not start it.',
        }
      : {}),
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
): Activation {
  const { problems, halt } = material;
  const title =
    [record.displayName ?? record.name, record.icon].filter(Boolean).join(' ') +
    (record.title === undefined ? '' : `, ${record.title}`);
  const { about, envelope, body } = unchanging(record, title, material, say);
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

/** What an activation says whatever the message is. */
interface Unchanging {
  record: BmadRecord;
  about: string;
  envelope: string;
  body: string;
}

/** The same material says the same in the words of the same caller. */
const composed = new WeakMap<Material, WeakMap<SayStep, Unchanging>>();

function unchanging(record: BmadRecord, title: string, material: Material, say: SayStep): Unchanging {
  const all = composed.get(material) ?? new WeakMap<SayStep, Unchanging>();
  composed.set(material, all);
  const known = all.get(say);
  if (known?.record === record) return known;
  const made = { record, ...composedNow(record, title, material, say) };
  all.set(say, made);
  return made;
}

function composedNow(
  record: BmadRecord,
  title: string,
  { notes, values, context, files, problems, halt, data, beside = [] }: Material,
  say: SayStep,
): Omit<Unchanging, 'record'> {
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
  return { about, envelope, body: joined([envelope, ...files.map(fileSection), ...after]) };
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
  return [
    ...(otherwise === undefined
      ? []
      : [
          `This is the one from ${where}, as asked; otherwise ${visible(otherwise.name)} of ${visible(otherwise.origin)} is served. Read its files from there: ${say({ operation: 'read', args })}.`,
        ]),
    ...(insteadOf === undefined ? [] : [`${where} overrides ${visible(insteadOf)} here.`]),
    ...(origin.kind === 'project' || origin.kind === 'package' ? [] : [`From outside the project: ${from}.`]),
  ];
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
