import { orElse, ours } from '../../base/expected.ts';
import { present } from '../../base/present.ts';
import type { SayStep } from '../../base/step.ts';
import { byteLength, oneLine, plural } from '../../base/text/text.ts';
import { shortName } from '../../model/record.ts';
import type { Activation, Call, Context, ProjectState, Workspace } from '../context.ts';
import { plannedDocuments } from '../project/discovery.ts';
import type { Detail } from '../fields.ts';
import { nextStepFile } from './next-step.ts';
import type { Beside } from './work-text.ts';
import { commandRemarks, insteadLine, noneLeft, pieceNames, writtenFrom } from './v4-inputs.ts';
import { workRemarks } from './work-remarks.ts';

type Documents = Awaited<ReturnType<typeof plannedDocuments>>;
type Kind = Documents[number]['kind'];
type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Story = NonNullable<Awaited<ReturnType<Progress['storyFor']>>>;
type Unknown = NonNullable<Awaited<ReturnType<Progress['unknownStory']>>>;

/** How texts call the documents that others have left behind. */
const NAMES: Partial<Record<Kind, RegExp>> = {
  research: /\bresearch\b|brainstorm/i,
  // `brief comments` are none.
  brief:
    /\bBusiness goals and strategy documents\b|\bbriefs?\b(?! (?:comment|descri|explan|intro|note|overview|rationale|reason|secondary|statement|summar))/i,
  prd: /\bprds?\b|product requirements/i,
  ux: /\bux\b/i,
  // Many texts speak of architecture without meaning the document; beside a PRD they do mean it.
  architecture:
    /\barchitecture(?:[\w-]{0,40}(?:\*|\.(?:md|ya?ml))|_(?:file|content|doc|path)|File\b|Sharded|\/)|[*{]architecture|\barchitecture (?:doc(?:ument)?s?|documentation|files?|shards?|spine|decisions?)\b|\b(?:the|existing|from|full|sharded|load|read|prd,?|prd and|ux,?|and) architecture\b(?! (?:is|and design|violat|pattern|style))/i,
  // `{epic}` is the number of one.
  epics: /(?<!\{)\bepics?\b(?!\})/i,
  spec: /\bspecs?\b/i,
  readiness: /readiness/i,
  sprint: /sprint-status|\bsprint\b/i,
  change: /change proposal/i,
};

/**
 * Whoever works on a story is held to them, also where a text leaves it to the reader to find them. Version 4 does not
 * want that: what counts is in the story, and its texts forbid to load more.
 */
const BEHIND_STORIES: ReadonlySet<Kind> = new Set(['prd', 'architecture', 'epics']);

const LISTED = 8;
const LONGEST = 1_000;

interface InputsAsked {
  project: string | undefined;
  message: string | undefined;
  call: Call;
  say: SayStep;
  detail?: Detail | undefined;
  /** What belongs to it and is not among its files: the checklist that a task is to run, or what it writes. */
  beside?: Beside | undefined;
}

const nothing = () => ({
  documents: [] as Documents,
  story: undefined,
  lines: [] as string[],
  progress: undefined,
  drafts: undefined,
});

/**
 * The documents of the project that a workflow asks for, with their paths. Texts look for them by patterns such as
 * `{planning_artifacts}/*prd*.md`, which do not find what another version of BMAD has put elsewhere.
 */
export async function knownInputs(
  activation: Activation,
  asked: InputsAsked,
  workspace: Workspace,
  context: Context,
): Promise<string | undefined> {
  const { record, material } = activation;
  const { project, beside } = asked;
  if (record.kind === 'agent' || workspace.project.root === undefined) return undefined;
  const own = material.files.map((file) => file.text);
  const checklist = beside !== undefined && 'name' in beside ? beside : undefined;
  const text = [...own, ...(material.beside ?? []), checklist?.text ?? ''].join('\n');
  const isV4 = record.generation === 'v4';
  const wantsDocuments = isV4 || Object.values(NAMES).some((name) => name.test(text));
  const work = checklist?.name ?? shortName(record.name);
  const from = beside !== undefined && 'writes' in beside ? writtenFrom(beside.writes) : [];
  // What cannot be read is told by `next`; it does not keep a workflow from starting.
  const { documents, story, lines, progress, drafts } = await context
    .state(project)
    .then(async (state) => {
      const known = await state.progress();
      return {
        ...(await storyOf(known, work, asked, workspace)),
        documents: wantsDocuments ? await plannedDocuments(state) : [],
        progress: known,
        drafts: isV4 ? await known.draftsFor(work) : undefined,
      };
    })
    .catch(orElse(nothing()));
  const inPieces = new Set<string>();
  const isAsked = (kind: Kind): boolean =>
    from.includes(kind) ||
    NAMES[kind]?.test(text) === true ||
    (story !== undefined && !isV4 && BEHIND_STORIES.has(kind)) ||
    (kind === 'architecture' && NAMES.prd?.test(text) === true && /\barchitecture\b/i.test(text));
  const shards = isV4 ? documents.find(({ kind }) => kind === 'architecture')?.pieces : undefined;
  const named = shards && progress?.namedPieces(text, shards.files);
  for (const document of documents) {
    if (!isAsked(document.kind) || inPieces.has(document.path)) continue;
    for (const piece of document.pieces?.files ?? []) inPieces.add(piece);
    const names = named?.some === true && document.pieces === shards ? pieceNames(shards?.files ?? []) : '';
    const line = documentLine(document, nextStepFile(activation, document)) + names;
    if (!lines.includes(line)) lines.push(line);
  }
  lines.push(...insteadLine(named?.instead ?? []));
  // Texts that look for the story themselves set it; who is told the story would go on without, and leave the ledger as it is.
  if (story?.key !== undefined && /\bstory_key\b/.test(text))
    lines.splice(1, 0, `- \`story_key\`: ${story.key}`);
  const does = {
    text,
    isForStory: story?.builds === true || story?.drafts === true,
    isNext: (drafts?.done ?? 0) > 0,
  };
  return joined(
    story === undefined && drafts !== undefined ? noneLeft(drafts, asked.say) : undefined,
    asked.detail === 'concise' ? undefined : await workRemarks(does, asked, context),
    inputsSection(lines),
    await failuresFor(story, asked, context),
  );
}

/** The story that a command of an agent is for, where the agent itself is all there is to follow. */
export async function commandInputs(
  { material }: Activation,
  asked: InputsAsked,
  workspace: Workspace,
  context: Context,
): Promise<string | undefined> {
  const { message, project } = asked;
  const command = /^\*[a-z][a-z-]*/.exec(message?.trim() ?? '')?.[0];
  if (command === undefined || workspace.project.root === undefined) return undefined;
  const { story, lines } = await context
    .state(project)
    .then(async (state) => storyOf(await state.progress(), command, asked, workspace))
    .catch(orElse({ story: undefined, lines: [] as string[] }));
  const remarks = commandRemarks(material.files[0]?.text ?? '', command, asked.say);
  return joined(remarks, inputsSection(lines), await failuresFor(story, asked, context));
}

const joined = (...sections: (string | undefined)[]): string | undefined =>
  sections.filter((each) => each !== undefined).join('\n\n') || undefined;

const FAILURES = 3;

/** Whoever builds has to know what went wrong before. */
async function failuresFor(
  story: Story | undefined,
  { project, message, call: { signal } }: InputsAsked,
  context: Context,
): Promise<string | undefined> {
  if (story?.builds !== true) return undefined;
  const { failuresAbout } = await import('../memory/known-about.ts');
  const query = [story.id.replace(/[-.]/g, ' '), message].filter(Boolean).join(' ');
  const told = await failuresAbout(query, context, project, signal).catch(ours(() => []));
  if (told.length === 0) return undefined;
  const lines = told.slice(0, FAILURES).map((line) => `- ${oneLine(line, 250)}`);
  return `## Past failures to avoid\n\n${lines.join('\n')}`;
}

function inputsSection(lines: string[]): string | undefined {
  while (byteLength(lines.join('\n')) > LONGEST) lines.pop();
  if (lines.length === 0) return undefined;
  return `## Inputs that exist\n\nIn the project, whatever patterns the text looks for:\n\n${lines.slice(0, LISTED).join('\n')}`;
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

/** The story that work is for, or that there is none of the number that was asked for. */
async function storyOf(
  progress: Progress,
  workflow: string,
  { message, project, call, say }: InputsAsked,
  { catalogue }: Workspace,
): Promise<{ story: Story | undefined; lines: string[] }> {
  const found = await progress.storyFor(workflow, message);
  // One that was built in a single step has none.
  const isBare = found?.base !== undefined && found.base.commit === undefined;
  const base = isBare ? await progress.baseByHistory(found.place, call.signal) : undefined;
  const story = found && { ...found, ...(base === undefined ? {} : { base }) };
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
  return `- story: none has the number ${asked}; ${there}. Ask which one is meant.`;
}

function storyLines(story: Story | undefined): string[] {
  if (story === undefined) return [];
  const { gate, spec } = story;
  const criteria =
    spec?.criteria === undefined
      ? []
      : [
          `- acceptance criteria: ${spec.criteria}, not in this one-shot spec; append \`### Review Findings\` at its end`,
        ];
  if (gate === undefined) return [storyLine(story), ...criteria];
  const said = 'file' in gate ? `${gate.file} (${gate.says})` : `none yet; it is written to ${gate.folder}/`;
  return [storyLine(story), `- gate: ${said}`];
}

/** The story itself: texts look for it by the ledger and by patterns, and a review needs what to compare with. */
function storyLine({ id, status, place, isPlanned, writes, base, spec, tasks, others }: Story): string {
  if (isPlanned)
    return `- story: ${id}, planned in ${place}${writes === undefined ? '' : `; write it to ${writes}`}`;
  const more = others === 0 ? '' : `; ${plural(others, 'other story is', 'other stories are')} as far`;
  const from = base === undefined ? '' : `, ${comparison(base)}`;
  const open = tasks === undefined ? '' : `, but only ${tasks.done} of ${plural(tasks.total, 'task')} ticked`;
  // A build sets its spec to done and leaves the ledger at review.
  const own =
    spec?.says === undefined || spec.says === status ? '' : ` in the ledger, ${spec.says} by its build`;
  return `- story: ${place} (${status}${own}${open}${from})${more}`;
}

function comparison(base: NonNullable<Story['base']>): string {
  const { commit, added } = base;
  if (commit === undefined) return 'no baseline_commit in it: ask what to compare with';
  if (!('added' in base)) return `compare with baseline_commit ${commit}`;
  const since = added === undefined ? 'is not committed yet' : `was first committed in ${added.slice(0, 12)}`;
  return `no baseline_commit in it, and it ${since}: compare with ${commit}`;
}
