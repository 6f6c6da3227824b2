import { ours, orElse } from '../../base/errors.ts';
import { present, those } from '../../base/values.ts';
import { saying } from '../../base/step.ts';
import { plural } from '../../base/text/message.ts';
import { byteLength, oneLine } from '../../base/text/text.ts';
import { shortName } from '../../model/record.ts';
import { LEAST_PART, showText, withoutText } from '../catalogue/shown-text.ts';
import type { Activation, ProjectState } from '../context.ts';
import { plannedDocuments } from '../project/discovery.ts';
import { type Asked, fitTogether, type Started, startShown, type StartText } from './start.ts';

/** The text that a workflow or a task is started with. Before it: what is said first, its own head, and its run. */
export async function workText(
  started: Started,
  asked: Asked,
  [told, start = '', kept]: readonly (string | undefined)[],
): Promise<StartText> {
  const { activation, workspace, context, call, limits } = started;
  const { section, cursor, detail, along } = asked;
  if (detail !== 'brief' && (section !== undefined || cursor !== undefined))
    return showText(activation.body, {
      section,
      cursor,
      detail,
      maxBytes: Math.max(LEAST_PART, limits.maxBytes),
    });
  const head = [told, start, await inputsOf(started, asked), kept].filter(Boolean).join('\n\n');
  if (detail === 'brief') return withoutText(head, activation);
  if (along === undefined) return startShown(head, activation.body, started, asked);
  const { delivery } = workspace;
  const { record } = activation;
  const whole = await delivery.activation(record, undefined, context.project, saying(call.say), {
    along: [along],
  });
  if (fitTogether([head, whole.body], started, asked)) return startShown(head, whole.body, started, asked);
  const read = {
    operation: 'read',
    args: { target: along, kind: 'resource' },
    why: 'Read the checklist first',
  };
  return { ...startShown(head, activation.body, started, asked), steps: [read] };
}

type Documents = Awaited<ReturnType<typeof plannedDocuments>>;
type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Story = NonNullable<Awaited<ReturnType<Progress['storyFor']>>>;
type Unknown = NonNullable<Awaited<ReturnType<Progress['unknownStory']>>>;

const LISTED = 8;
const LONGEST = 1_000;

/**
 * The documents that the project has, with their paths, and the story that the message names. Texts look for documents by
 * patterns such as `{planning_artifacts}/*prd*.md`, which do not find what another version of BMAD has put elsewhere.
 */
export async function inputsOf(started: Started, asked: Asked): Promise<string | undefined> {
  const { activation, workspace, context } = started;
  const { record } = activation;
  const work = /\/checklists\/([\w-]+)\.\w+$/.exec(asked.along ?? '')?.[1] ?? shortName(record.name);
  if (record.kind === 'agent' || workspace.project.root === undefined) return undefined;
  // What cannot be read is told by `next`; it does not keep a workflow from starting.
  const { documents, story, lines } = await context
    .state()
    .then(async (state) => ({
      ...(await storyOf(await state.progress(), work, asked, started)),
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
  return joined(inputsSection(lines), await failuresFor(story, asked, started));
}

/** The story that a command of an agent is for, where the agent itself is all there is to follow. */
export async function commandInputs(started: Started, asked: Asked): Promise<string | undefined> {
  const command = /^\*[a-z][a-z-]*/.exec(asked.message?.trim() ?? '')?.[0];
  if (command === undefined || started.workspace.project.root === undefined) return undefined;
  const { story, lines } = await started.context
    .state()
    .then(async (state) => storyOf(await state.progress(), command, asked, started))
    .catch(orElse({ story: undefined, lines: [] as string[] }));
  return joined(inputsSection(lines), await failuresFor(story, asked, started));
}

const joined = (...sections: (string | undefined)[]): string | undefined =>
  sections.filter((each) => each !== undefined).join('\n\n') || undefined;

const FAILURES = 3;

/** Whoever builds has to know what went wrong before. */
async function failuresFor(
  story: Story | undefined,
  { message }: Asked,
  { context, call: { signal } }: Started,
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
  { message }: Asked,
  { workspace: { catalogue }, context: { project }, call }: Started,
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
        : `; write it first: ${saying(call.say)({ operation: 'execute', args: present({ ...args, project }) })}`;
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
  const rest =
    gate === undefined
      ? spec?.criteria !== undefined &&
        `- acceptance criteria: ${spec.criteria}, because this one-shot spec has none`
      : `- gate: ${'file' in gate ? `${gate.file} (${gate.says})` : `none yet; it is written to ${gate.folder}/`}`;
  return those(storyLine(story), key !== undefined && `- \`story_key\`: ${key}`, rest);
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
