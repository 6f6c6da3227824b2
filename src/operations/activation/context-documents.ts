import { present } from '../../base/present.ts';
import type { SayStep } from '../../base/step.ts';
import { chunksOf, type Chunk } from '../../base/text/text-chunks.ts';
import { fitted, type Piece } from '../../base/text/text-budget.ts';
import { shortName, type BmadRecord } from '../../model/record.ts';
import type { ProjectState, StatePort, Workspace } from '../context.ts';
import { unknownLine } from './known-inputs.ts';

type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Unwritten = NonNullable<Awaited<ReturnType<Progress['unwritten']>>>;

/** Who comes first when room is given out: what only the project has, before texts that can be had at any time. */
export const RANK = { required: 0, near: 1, plan: 2, main: 3, template: 4, steps: 5 };

export interface Matter {
  message?: string | undefined;
  project?: string | undefined;
  topic: string;
  target: BmadRecord;
}

/**
 * The story that is worked on, and of the plans the sections that are about the matter. What a story has to fulfil and what
 * there is to do for it come before everything else: without them a worker can only guess.
 */
export async function documentPieces(
  { topic, target, message, project }: Matter,
  workspace: Workspace,
  context: StatePort,
  say: SayStep,
): Promise<{ story: Piece[]; plans: Piece[] }> {
  if (workspace.project.root === undefined) return { story: [], plans: [] };
  const progress = await (await context.state(project)).progress();
  const workflow = shortName(target.name);
  const documents = await progress.documents(workflow, message);
  const first = documents.find(({ kind }) => kind === 'story');
  const isNeeded = target.kind === 'agent' || progress.isForStories(workflow);
  const about = aboutness(`${topic} ${first?.text.slice(0, 2_000) ?? ''}`);
  const pieces = documents.map((document): Piece => {
    const { kind, path, state } = document;
    const isNear = kind === 'story' || kind === 'spec';
    const { text, required } =
      document === first && isNeeded ? coreFirst(document.text) : { text: document.text, required: 0 };
    return {
      title: `Project document (${isNear || state === 'complete' ? kind : `${kind}, ${state}`})`,
      source: path,
      text,
      required,
      rank: isNear ? RANK.near : RANK.plan,
      rest: isNear ? 'in order' : 'by score',
      share: isNear ? 0.5 : 0.3,
      score: about,
    };
  });
  const unwritten = await progress.unwritten(workspace.catalogue, message);
  if (unwritten !== undefined) pieces.unshift(unwrittenPiece(unwritten, target, project, say));
  const unknown = await progress.unknownStory(undefined, message);
  if (unknown !== undefined) pieces.unshift(requiredPiece(unknownLine(unknown).replace(/^- story: n/, 'N')));
  const isRequired = ({ required }: Piece): boolean => required > 0;
  return { story: pieces.filter(isRequired), plans: pieces.filter((piece) => !isRequired(piece)) };
}

/** Nothing is more misleading than a context without the story it is about. */
function unwrittenPiece(
  { id, place, worker }: Unwritten,
  target: BmadRecord,
  project: string | undefined,
  say: SayStep,
): Piece {
  const message = [worker?.command, id].filter(Boolean).join(' ');
  const args = worker && present({ name: worker.name, kind: worker.kind, message, project });
  const does =
    worker === undefined
      ? ''
      : worker.record === target
        ? ' This workflow writes it.'
        : ` Write it first: ${say({ operation: 'execute', args: args ?? {} })}.`;
  const text = `Story ${id} has no file yet; it is planned in ${place}.${does}`;
  return requiredPiece(text);
}

function requiredPiece(text: string): Piece {
  return { title: 'Story', text, required: text.length, rank: RANK.required, rest: 'in order', share: 1 };
}

/** The sections of a story that say what has to be fulfilled and done, as its versions call them. */
const CRITERIA = /acceptance|critère/iu;
const CORE = /acceptance|critère|\btasks?\b|tâches?/iu;
/** A story says all that its builder needs; of a longer one, this many tokens are required. */
const STORY_TOKENS = 3_000;

/** A story with its criteria and tasks behind the title, and how much of it must not be left out. */
function coreFirst(text: string): { text: string; required: number } {
  const chunks = chunksOf(text);
  const level = Math.min(...chunks.flatMap((chunk) => (isCore(chunk) ? [chunk.level] : [])));
  const [title, ...sections] = chunks;
  // What has to be fulfilled comes before what is done for it, wherever it stands; what is below a heading stays with it.
  const [criteria, work]: [Chunk[], Chunk[]] = [[], []];
  let part: Chunk[] | undefined;
  for (const chunk of sections) {
    if (isCore(chunk)) part = CRITERIA.test(chunk.title ?? '') ? criteria : work;
    else if (chunk.level > 0 && chunk.level <= level) part = undefined;
    part?.push(chunk);
  }
  const core = [...criteria, ...work];
  if (title === undefined || core.length === 0) return { text, required: fitted(text, STORY_TOKENS).length };
  const joined = (some: readonly Chunk[]): string => some.map((chunk) => chunk.text).join('');
  const whole = joined([title, ...core]) + joined(sections.filter((chunk) => !core.includes(chunk)));
  return { text: whole, required: fitted(whole, STORY_TOKENS).length };
}

const isCore = ({ title = '', level }: Chunk): boolean => level > 1 && CORE.test(title);

const LEAST_LETTERS = 4;
const IN_TITLE = 3;
/** Words that stand in every plan. */
const COMMON = new Set(
  'with this that from when will have what which their your into project product user users agent workflow create using pour dans avec cette sont plus utilisateur projet'.split(
    ' ',
  ),
);

/** How much a section of a document is about a matter: by the words they share, those of its heading above all. */
function aboutness(topic: string): (chunk: Chunk) => number {
  const wanted = wordsOf(topic);
  const shared = (text: string): number => {
    let count = 0;
    for (const word of wordsOf(text)) if (wanted.has(word)) count += 1;
    return count;
  };
  return ({ title, text }) => IN_TITLE * shared(title ?? '') + shared(text);
}

function wordsOf(text: string): Set<string> {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length >= LEAST_LETTERS && !COMMON.has(word)));
}
