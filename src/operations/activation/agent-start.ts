import { quoted, attempt, orElse, ours } from '../../base/errors.ts';
import { present } from '../../base/values.ts';
import { saying, type SayStep, type Step } from '../../base/step.ts';
import { pointedSections } from '../../base/text/markdown.ts';
import { plural } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { bullets, byteLength, oneLine } from '../../base/text/text.ts';
import { type BmadRecord, qualifiedName, shortName } from '../../model/record.ts';
import { askedText } from '../catalogue/agent-names.ts';
import { LEAST_PART, type ShowOptions, showText, withoutText } from '../catalogue/shown-text.ts';
import { startOf } from '../catalogue/names.ts';
import type { Activation, Call, Context, ProjectPort, ProjectState, Workspace } from '../context.ts';
import { plannedDocuments } from '../project/discovery.ts';
import { type Asked, fitTogether, inputsOf, type Started, startShown, type StartText } from './start.ts';

/**
 * The text that an agent is started with. What its message starts comes along where it is an entry of its menu. `before`:
 * what is said first, the agent's own head, and last.
 */
export async function agentText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { activation, limits, context } = started;
  const { section, cursor, detail } = asked;
  const commanded = await commandedBy(started, asked);
  if (detail !== 'brief' && (section !== undefined || cursor !== undefined)) {
    const { of, shown } = laterPart(activation, commanded, {
      section,
      cursor,
      detail,
      maxBytes: Math.max(LEAST_PART, limits.maxBytes),
    });
    return of === activation ? shown : { ...restOfWork(of, shown.next, context), ...shown };
  }
  // Agent and work come together where there is room for both; else the work is the next call.
  const agent = `${start}\n\n${activation.body}`;
  const isRoomy = detail === 'full' || byteLength(agent) + LEAST_PART <= limits.mostBytes;
  if (commanded !== undefined && isRoomy && detail !== 'brief')
    return withWork(commanded, { ...started, activation: commanded.work }, asked, [told, agent, kept]);
  const beside = commanded === undefined ? await besideCommand(started, asked) : undefined;
  const head = [told, beside?.amiss, start, beside?.inputs, kept].filter(Boolean).join('\n\n');
  if (detail === 'brief') return withoutText(head, activation);
  const shown = startShown(head, activation.body, started, asked);
  const steps = [
    ...startOfWork(commanded, context),
    ...promptStep(activation, beside?.prompt, shown.text, context),
  ];
  return steps.length === 0 ? shown : { ...shown, steps };
}

/** What is asked of an agent that is started, in the room that is left before its files. `found` is what it was found by. */
export function openFor(
  { activation: { record, room }, workspace, context, call }: Omit<Started, 'limits'>,
  found: BmadRecord,
): Promise<string | undefined> {
  const handles = [record, found].map((each) => workspace.catalogue.names.handleOf(each));
  return askedText(handles, workspace, { context, say: saying(call.say) }, room);
}

/** What a message has an agent do, where it is an entry of its menu. */
interface Commanded {
  said: string;
  work: Activation;
  /** What has to be known of the work beside the agent's own text. */
  notes: readonly string[];
  /** Templates and checklists that belong to it, and those of them that the entry names itself. */
  beside: readonly string[];
  named: readonly string[];
  /** The values that the agent has. */
  given: Activation['material']['values'];
}

/** The work behind an entry of a menu. */
async function commandedBy(
  { activation: { record, head, lead, material }, workspace: { delivery }, context, call }: Started,
  { message }: Asked,
): Promise<Commanded | undefined> {
  if (message === undefined || lead === undefined) return undefined;
  const found = await delivery.commanded(record, message);
  if (found === undefined || found.starts === record) return undefined;
  const work = await delivery.activation(found.starts, undefined, context.project, saying(call.say));
  if (work.lead === undefined) return undefined;
  // A rule that leads to the same call is known, whatever it is for.
  const isKnown = (line: string): boolean => head.includes(line.slice(line.indexOf(': ') + 2));
  const notes = work.head.split('\n').filter((line) => line.startsWith('- ') && !isKnown(line));
  const { said, beside, named } = found;
  return { said, work, notes, beside, named, given: material.values };
}

/** An agent and what its message starts, with the templates that the entry of its menu names where they fit. */
async function withWork(
  { said, work, notes, beside, named, given }: Commanded,
  started: Started,
  asked: Asked,
  [told, agent = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { workspace, context, call } = started;
  const say = saying(call.say);
  const along = named.find((uri) => uri.includes('/checklists/'));
  const inputs = await inputsOf(started, { ...asked, along });
  const headWith = (files: readonly string[]): string => {
    const unnamed = files.filter((uri) => !notes.some((line) => line.includes(uri)));
    const start = `It starts the ${work.record.kind} ${qualifiedName(work.record)}, which follows; run it as this agent.`;
    const intro = [`## ${said}`, start, [...notes, ...besideLine(unnamed, say)].join('\n')];
    return [told, agent, ...intro, inputs, kept].filter(Boolean).join('\n\n');
  };
  const starts = startOf(work.record);
  const whole = await workspace.delivery.activation(work.record, undefined, context.project, say, {
    along: named,
    given,
  });
  const head = headWith(beside.filter((uri) => !named.includes(uri)));
  if (fitTogether([head, whole.body], started, asked))
    return { starts, ...startShown(head, whole.body, started, asked) };
  const shown = startShown(headWith(beside), work.body, started, asked);
  return { ...restOfWork(work, shown.next, context), ...shown };
}

function besideLine(uris: readonly string[], say: SayStep): string[] {
  if (uris.length === 0) return [];
  const calls = uris.map((uri) => say({ operation: 'read', args: { target: uri, kind: 'resource' } }));
  return [bullets([`Its templates and checklists: ${calls.join(', ')}.`])];
}

/** A message that starts no work of its own: the story and the prompt of its command, or that there is no such command. */
async function besideCommand(started: Started, asked: Asked) {
  const { activation, workspace, context, call } = started;
  const { record, lead } = activation;
  const { message = '' } = asked;
  const entry = lead === undefined ? undefined : await workspace.delivery.entry(record, message);
  return {
    inputs: await commandInputs({ ...asked, call, say: saying(call.say) }, workspace, context),
    prompt: entry,
    amiss: entry === undefined ? await unknownCommand(started, message) : undefined,
  };
}

const NAMED = 12;

/** That the command a message begins with is none of this agent's, and which it has. A word in italics is no command. */
async function unknownCommand(
  { activation: { record, lead }, workspace: { delivery } }: Started,
  message: string,
): Promise<string | undefined> {
  // All agents can be asked for their menu, and left.
  const command = /^\*(?!(?:help|menu|exit)\b)[a-z][\w-]*(?![\w*-])/i.exec(message.trim())?.[0];
  if (command === undefined || lead === undefined) return undefined;
  const codes = (await delivery.profile(record)).menu.map(({ code }) => code.split(/\s/, 1)[0] ?? code);
  if (codes.length === 0) return undefined;
  const near = nearest(command, codes);
  const instead =
    near.length === 0 ? `It has: ${codes.slice(0, NAMED).join(', ')}` : `Nearest: ${near.join(', ')}`;
  return `> This agent has no command ${quoted(command)}. ${instead}.`;
}

/** The call for the prompt that an entry leads to in the agent's own file, where what is shown does not have it. */
function promptStep(
  { record, body }: Activation,
  entry: { said: string; prompt?: string | undefined } | undefined,
  shown: string,
  { project }: ProjectPort,
): Step[] {
  if (entry?.prompt === undefined) return [];
  const section = pointedSections(body).find(({ title }) => title === `#${entry.prompt ?? ''}`);
  if (section === undefined || shown.includes(body.slice(section.start, section.end))) return [];
  const args = present({ ...startOf(record), section: section.title, project });
  return [{ operation: 'execute', args, why: `Read what ${entry.said} stands for` }];
}

/** A later part of what was started: of the work that the message has begun, or of the text itself. */
function laterPart(activation: Activation, commanded: Commanded | undefined, options: ShowOptions) {
  const work = commanded?.work;
  const shown =
    work &&
    attempt(
      () => showText(work.body, options),
      ours(() => undefined),
    );
  return work === undefined || shown === undefined
    ? { of: activation, shown: showText(activation.body, options) }
    : { of: work, shown };
}

/** What a message has started beside its agent, and the call for the next part of it. */
function restOfWork({ record }: Activation, cursor: string | undefined, { project }: ProjectPort) {
  const starts = startOf(record);
  const args = present({ ...starts, cursor, project });
  const step: Step = { operation: 'execute', args, why: 'Read on before going past this part' };
  return { starts, ...(cursor === undefined ? {} : { steps: [step] }) };
}

/** The call for work that there is no room for beside its agent. */
function startOfWork(commanded: Commanded | undefined, { project }: ProjectPort): Step[] {
  if (commanded === undefined) return [];
  const args = present({ ...startOf(commanded.work.record), project });
  return [{ operation: 'execute', args, why: `Then start what ${commanded.said} stands for` }];
}

type Documents = Awaited<ReturnType<typeof plannedDocuments>>;
type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Story = NonNullable<Awaited<ReturnType<Progress['storyFor']>>>;
type Unknown = NonNullable<Awaited<ReturnType<Progress['unknownStory']>>>;

const LISTED = 8;
const LONGEST = 1_000;

interface InputsAsked {
  message: string | undefined;
  call: Call;
  say: SayStep;
  /** The address of a checklist that the task is to run: that is what it is about. */
  along?: string | undefined;
}

/**
 * The documents that the project has, with their paths, and the story that the message names. Texts look for documents by
 * patterns such as `{planning_artifacts}/*prd*.md`, which do not find what another version of BMAD has put elsewhere.
 */
export async function knownInputs(
  activation: Activation,
  asked: InputsAsked,
  workspace: Workspace,
  context: Context,
): Promise<string | undefined> {
  const { record } = activation;
  const work = /\/checklists\/([\w-]+)\.\w+$/.exec(asked.along ?? '')?.[1] ?? shortName(record.name);
  if (record.kind === 'agent' || workspace.project.root === undefined) return undefined;
  // What cannot be read is told by `next`; it does not keep a workflow from starting.
  const { documents, story, lines } = await context
    .state()
    .then(async (state) => ({
      ...(await storyOf(await state.progress(), work, asked, workspace, context)),
      documents: await plannedDocuments(state),
    }))
    .catch(orElse({ documents: [] as Documents, story: undefined, lines: [] as string[] }));
  const inPieces = new Set<string>();
  for (const document of documents) {
    if (inPieces.has(document.path)) continue;
    for (const piece of document.pieces?.files ?? []) inPieces.add(piece);
    const line = documentLine(document, nextStepFile(activation, document));
    if (!lines.includes(line)) lines.push(line);
  }
  return joined(inputsSection(lines), await failuresFor(story, asked, context));
}

/** The story that a command of an agent is for, where the agent itself is all there is to follow. */
export async function commandInputs(
  asked: InputsAsked,
  workspace: Workspace,
  context: Context,
): Promise<string | undefined> {
  const { message } = asked;
  const command = /^\*[a-z][a-z-]*/.exec(message?.trim() ?? '')?.[0];
  if (command === undefined || workspace.project.root === undefined) return undefined;
  const { story, lines } = await context
    .state()
    .then(async (state) => storyOf(await state.progress(), command, asked, workspace, context))
    .catch(orElse({ story: undefined, lines: [] as string[] }));
  return joined(inputsSection(lines), await failuresFor(story, asked, context));
}

const joined = (...sections: (string | undefined)[]): string | undefined =>
  sections.filter((each) => each !== undefined).join('\n\n') || undefined;

const FAILURES = 3;

/** Whoever builds has to know what went wrong before. */
async function failuresFor(
  story: Story | undefined,
  { message, call: { signal } }: InputsAsked,
  context: Context,
): Promise<string | undefined> {
  if (story?.builds !== true) return undefined;
  const { failuresAbout } = await import('../memory/known-about.ts');
  const query = [story.id.replace(/[-.]/g, ' '), message].filter(Boolean).join(' ');
  const told = await failuresAbout(query, context, signal).catch(ours(() => []));
  if (told.length === 0) return undefined;
  const lines = told.slice(0, FAILURES).map((line) => `- ${oneLine(line, 250)}`);
  return `## Past failures to avoid\n\n${lines.join('\n')}`;
}

function inputsSection(lines: string[]): string | undefined {
  while (byteLength(lines.join('\n')) > LONGEST) lines.pop();
  if (lines.length === 0) return undefined;
  return `## Documents of the project\n\n${lines.slice(0, LISTED).join('\n')}`;
}

/** A document, and where it is in pieces. */
function documentLine(
  { kind, path, state, pieces, nextStep }: Documents[number],
  step: string | undefined,
): string {
  const goOn = step === undefined ? '' : `; continue with step ${nextStep}, ${step}`;
  const far = state === 'complete' ? '' : ` (${state}${goOn})`;
  const isOnly = pieces?.files.length === 1 && pieces.files[0] === path;
  if (pieces === undefined || isOnly) return `- ${kind}: ${path}${far}`;
  const where = `${pieces.folder}/, in ${plural(pieces.files.length, 'file')}`;
  return pieces.files.includes(path) ? `- ${kind}: ${where}${far}` : `- ${kind}: ${path}${far}; ${where}`;
}

const STEP_FILE = /\/(steps[\w-]*)\/step-(\d+)([a-z]?)-[^/]+\.md$/;

/**
 * The file of the next step of a document in progress, if this is the workflow that writes it. Without it, a model would
 * begin with the first step again.
 */
function nextStepFile(
  { record, material: { files, further } }: Activation,
  { kind, nextStep }: { kind: string; nextStep?: number | undefined },
): string | undefined {
  // There are several kinds of research, and one word for their documents.
  if (nextStep === undefined || kind === 'research' || !shortName(record.name).includes(kind))
    return undefined;
  const [main] = files;
  const steps = further.flatMap((uri) => {
    const [, folder, number, part] = STEP_FILE.exec(uri) ?? [];
    return main?.text.includes(`${folder ?? ''}/`) === true ? [{ uri, number: Number(number), part }] : [];
  });
  // Whether the parts of the last step that is marked have been done, the number does not say.
  if (steps.some(({ number, part }) => number === nextStep - 1 && part !== '')) return undefined;
  const found = steps.filter(({ number, part }) => number === nextStep && part === '');
  return found.length === 1 ? found[0]?.uri : undefined;
}

/** The story that a message names, or that there is none of the number that was asked for. */
async function storyOf(
  progress: Progress,
  workflow: string,
  { message, call, say }: InputsAsked,
  { catalogue }: Workspace,
  { project }: ProjectPort,
): Promise<{ story: Story | undefined; lines: string[] }> {
  const found = await progress.storyFor(workflow, message);
  // One that was built in a single step has none.
  const isBare = found?.base !== undefined && found.base.commit === undefined;
  const base = isBare ? await progress.baseByHistory(found.place, call.signal) : undefined;
  const story = found && { ...found, ...present({ base }) };
  if (story?.isPlanned === true && !story.drafts) {
    const worker = (await progress.unwritten(catalogue, message))?.worker;
    const args = worker && {
      name: worker.name,
      kind: worker.kind,
      message: [worker.command, story.id].filter(Boolean).join(' '),
    };
    const first =
      args === undefined
        ? ''
        : `; write it first: ${say({ operation: 'execute', args: present({ ...args, project }) })}`;
    // Nothing can be built or reviewed yet.
    const line = `- story: ${story.id} is planned in ${story.place} and has no file yet${first}`;
    return { story: undefined, lines: [line] };
  }
  const unknown = story === undefined ? await progress.unknownStory(workflow, message) : undefined;
  return { story, lines: unknown === undefined ? storyLines(story) : [unknownLine(unknown)] };
}

export function unknownLine({ asked, known }: Unknown): string {
  const there = known.length === 0 ? 'there are no stories yet' : `there are ${known.join(', ')}`;
  return `- story: no story has the number ${asked}; ${there}. Ask which one is meant.`;
}

function storyLines(story: Story | undefined): string[] {
  if (story === undefined) return [];
  const { gate, spec, key } = story;
  const named = [storyLine(story), ...(key === undefined ? [] : [`- \`story_key\`: ${key}`])];
  const criteria =
    spec?.criteria === undefined
      ? []
      : [`- acceptance criteria: ${spec.criteria}, because this one-shot spec has none`];
  if (gate === undefined) return [...named, ...criteria];
  const said = 'file' in gate ? `${gate.file} (${gate.says})` : `none yet; it is written to ${gate.folder}/`;
  return [...named, `- gate: ${said}`];
}

/** The story itself: texts look for it by the ledger and by patterns, and a review needs what to compare with. */
function storyLine({ id, status, place, isPlanned, writes, base, spec, tasks }: Story): string {
  if (isPlanned)
    return `- story: ${id}, planned in ${place}${writes === undefined ? '' : `; write it to ${writes}`}`;
  const from = base === undefined ? '' : `, ${comparison(base)}`;
  const open = tasks === undefined ? '' : `, but only ${tasks.done} of ${plural(tasks.total, 'task')} ticked`;
  // A build sets its spec to done and leaves the ledger at review.
  const own =
    spec?.says === undefined || spec.says === status ? '' : ` in the ledger, ${spec.says} by its build`;
  return `- story: ${place} (${status}${own}${open}${from})`;
}

function comparison(base: NonNullable<Story['base']>): string {
  const { commit, added } = base;
  if (commit === undefined) return 'it names no baseline_commit: ask what to compare with';
  if (!('added' in base)) return `compare with baseline_commit ${commit}`;
  const since = added === undefined ? 'is not committed yet' : `was first committed in ${added.slice(0, 12)}`;
  return `it names no baseline_commit and ${since}: compare with ${commit}`;
}
