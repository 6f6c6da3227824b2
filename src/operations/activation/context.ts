import { BmadError } from '../../base/errors.ts';
import { contentPath } from '../../base/files/paths.ts';
import { present } from '../../base/values.ts';
import { saying, type SayStep } from '../../base/step.ts';
import {
  fitted,
  type LeftOut,
  packed,
  type Piece,
  type Chunk,
  chunksOf,
  essentialLength,
  estimateTokens,
} from '../../base/text/text-budget.ts';
import { behaviourOf, type BmadRecord, problemText, qualifiedName, shortName } from '../../model/record.ts';
import { namesToRecall } from '../catalogue/agent-names.ts';
import type {
  Activation,
  Call,
  Context,
  ProjectPort,
  ProjectState,
  StatePort,
  Workspace,
} from '../context.ts';
import { toldLine } from '../memory/known-about.ts';
import { openFor } from './agent-start.ts';
import { unknownLine } from './work-start.ts';

/** A text is required as a whole up to this many tokens; of a longer one, what it takes to begin. */
const WHOLE = { main: 4_500, instructions: 2_500, step: 3_000 };
const RECALLED = 12;
const NAMED_FILES = 8;

interface ContextPieces {
  head: string;
  pieces: Piece[];
  /** What was not even looked at, and why. */
  absent: LeftOut[];
}

/** The context of an agent or workflow, within a number of tokens. */
export async function contextWithin(
  record: BmadRecord,
  { budget, more, ...about }: About & { more?: string | undefined; budget: number },
  call: Call,
  workspace: Workspace,
  context: Context,
): Promise<ReturnType<typeof packed>> {
  const { head, pieces, absent } = await contextPieces(
    record,
    { ...about, budget },
    call,
    workspace,
    context,
  );
  const result = packed(more === undefined ? head : `${head}\n\n${more}`, pieces, absent, budget);
  return { ...result, needed: result.needed + roomForProject(pieces) };
}

/** Room for a title, and for the share of the list of what is left out. */
const BESIDE = { title: 25, share: 1.1 };
/** Of plans and memories, this many tokens are worth a second question. */
const MOST_BESIDE = 3_000;

/** What the project's own documents and memories take: a context without them is one that nobody can work from. */
function roomForProject(pieces: readonly Piece[]): number {
  const own = pieces.filter(({ title, text }) => text !== '' && title.startsWith('Project '));
  const tokens = own.map(({ text }) => estimateTokens(text) + BESIDE.title);
  const sum = tokens.reduce((total, each) => total + each, 0);
  return Math.min(MOST_BESIDE, Math.ceil(sum * BESIDE.share));
}

interface About {
  message?: string | undefined;
}

/** All that may be in the context of an agent or workflow, in the order in which it is shown. */
async function contextPieces(
  record: BmadRecord,
  { message, budget }: About & { budget: number },
  call: Call,
  workspace: Workspace,
  context: Context,
): Promise<ContextPieces> {
  const { signal, say } = call;
  const activation = await workspace.delivery.activation(record, message, context.project, saying(say));
  const target = activation.record;
  const topic = [message, target.title, target.displayName, target.description].filter(Boolean).join(' ');
  const steps = await stepPieces(activation, workspace);
  const matter = { topic, target, message };
  const { story, plans } = await documentPieces(matter, workspace, context, saying(say));
  const questions = message === undefined ? [topic] : [message, topic];
  const known = await memoryPieces(questions, target, signal, workspace, context);
  return {
    head: [
      activation.head,
      target.kind === 'agent' ? await openFor({ activation, workspace, context, call }, record) : undefined,
    ]
      .filter(Boolean)
      .join('\n\n'),
    // The text of a workflow can be had at any time; what the project has to say about the matter, only here.
    pieces: [
      ...known.pieces.slice(0, 1).map((decisions) => withRequired(decisions, budget)),
      ...story,
      ...plans,
      ...known.pieces.slice(1),
      ...ownPieces(activation, steps.pieces, saying(say)),
      ...steps.pieces.filter(({ required }) => required > 0),
      ...steps.pieces.filter(({ required }) => required === 0),
    ],
    absent: [...known.absent, ...steps.absent],
  };
}

/** Of what was decided, this share of the budget must not be left out, and no more than so many tokens. */
const DECIDED = { share: 0.2, most: 300 };

function withRequired(piece: Piece, budget: number): Piece {
  const tokens = Math.min(DECIDED.most, Math.floor(budget * DECIDED.share));
  return { ...piece, required: fitted(piece.text, tokens).length };
}

/** What delivery gives: values, resolved configuration, and the files to follow. */
function ownPieces(
  { record, material, problems }: Activation,
  steps: readonly Piece[],
  say: SayStep,
): Piece[] {
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');
  // The files that come along use values too.
  const known = new Set(material.values.map(([key]) => key));
  const further = (material.settings ?? []).filter(
    ([key]) => !known.has(key) && steps.some(({ text }) => text.includes(`{${key}}`)),
  );
  const values = list([...material.values, ...further].map(([key, value]) => `\`{${key}}\`: ${value}`));
  return [
    essential('Values', values),
    ...material
      .context(say)
      .map(({ title, body }) =>
        title === 'Roster'
          ? { ...essential(title, body), required: 0, rank: RANK.near }
          : essential(title, body),
      ),
    essential('Problems', list(problems.map(problemText))),
    ...material.files.map(({ uri, text }, index): Piece => {
      // An old name of a skill comes with the text that forwards from it.
      const isMain = index === 0 || behaviourOf(record).isSkill === true;
      const most = isMain ? WHOLE.main : WHOLE.instructions;
      // Half a persona is another one.
      const length = record.kind === 'agent' ? text.length : essentialLength(text, most);
      return { ...essential('File', text), source: uri, required: length, rank: RANK.main };
    }),
  ];
}

function essential(title: string, text: string): Piece {
  return { title, text, required: text.length, rank: RANK.required, rest: 'in order', share: 1 };
}

/** The number of a step, by the name of its file; undefined for any other file. */
function stepNumber(uri: string): number | undefined {
  const name = nameOf(uri);
  const digits = /\.(?:md|xml)$/i.test(name) ? /^(?:step|part)-?(\d+)/i.exec(name)?.[1] : undefined;
  return digits === undefined ? undefined : Number(digits);
}

/** Files of the workflow's folder: the step it begins with, templates, the steps that follow; the others by name. */
async function stepPieces(
  { record, material }: Activation,
  { delivery }: Workspace,
): Promise<Omit<ContextPieces, 'head'>> {
  const pieces: Piece[] = [];
  const others: string[] = [];
  const main = material.files.map(({ text }) => text).join('\n');
  const steps = material.further.filter((uri) => stepNumber(uri) !== undefined);
  const numberOf = (uri: string): number => stepNumber(uri) ?? 0;
  const first =
    steps.find((uri) => numberOf(uri) === 1 && main.includes(nameOf(uri))) ??
    steps.find((uri) => numberOf(uri) === 1);
  for (const uri of [...material.further].sort((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1))) {
    const isStep = stepNumber(uri) !== undefined;
    if (!isStep && !/template/i.test(nameOf(uri))) {
      others.push(nameOf(uri));
      continue;
    }
    const { text } = await delivery.file(contentPath(uri), record.origin);
    if (text === undefined) continue;
    pieces.push({
      title: isStep ? 'Step' : 'Template',
      source: uri,
      text,
      required: uri === first ? essentialLength(text, WHOLE.step) : 0,
      rank: uri === first ? RANK.main : isStep ? RANK.steps : RANK.template,
      rest: 'in order',
      share: isStep ? 1 : 0.3,
    });
  }
  const more = others.length - NAMED_FILES;
  const names = [...others.slice(0, NAMED_FILES), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return {
    pieces,
    absent:
      others.length === 0
        ? []
        : [{ title: `Files of ${qualifiedName(record)}`, why: `read when the text asks for them: ${names}` }],
  };
}

function nameOf(uri: string): string {
  return uri.slice(uri.lastIndexOf('/') + 1);
}

const OWN_LEARNINGS = 20;

const NEWEST_DECISIONS = 5;
const TYPES = ['decisions', 'failures', 'shared-context', 'agent-learnings'] as const;

/** What the project remembers about the matter, in its files and in its store, the best first. */
async function memoryPieces(
  questions: readonly string[],
  target: BmadRecord,
  signal: AbortSignal,
  workspace: Workspace,
  context: Context,
): Promise<Omit<ContextPieces, 'head'>> {
  if (workspace.project.root === undefined) return { pieces: [], absent: [] };
  try {
    const memory = await context.memory();
    // Where nothing is known, no model has to be loaded to search it.
    if (await memory.isEmpty()) return { pieces: [], absent: [] };
    const [query = '', ...alternatives] = questions.map((text) => text.slice(0, 2_000));
    const { hits } = await memory.recall(
      { query, alternatives, type: TYPES, limit: RECALLED, related: true },
      signal,
    );
    // What an agent has learned is its own, whatever the question is about.
    const names = target.kind === 'agent' ? await namesToRecall(qualifiedName(target), context) : undefined;
    const own =
      names === undefined
        ? []
        : (await memory.browse('agent-learnings', names, { most: OWN_LEARNINGS })).entries;
    const pieceOf = async (type: (typeof TYPES)[number]): Promise<Piece> => {
      const found = hits.filter(({ entry }) => entry.type === type);
      // What was decided holds whether or not the matter resembles it.
      const newest =
        type === 'decisions'
          ? (await memory.browse(type, undefined, { most: NEWEST_DECISIONS })).entries.filter(
              ({ entry }) => !found.some((hit) => hit.entry.text === entry.text),
            )
          : [];
      const entries =
        type === 'agent-learnings'
          ? [...own, ...found.filter(({ entry }) => !own.some((each) => each.entry.text === entry.text))]
          : [...found, ...newest];
      const text = (await memory.distinct(entries, signal)).map((told) => {
        const place = told.sources[0] ?? `memory ${told.entry.id}`;
        return `### ${told.entry.agent} (${place})\n${toldLine(told, 1_200)}\n`;
      });
      return {
        title: `Project memory: ${type}`,
        text: text.join('\n'),
        required: 0,
        rank: RANK.near,
        rest: 'by score',
        share: 0.15,
      };
    };
    return { pieces: await Promise.all(TYPES.map(pieceOf)), absent: [] };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
    return { pieces: [], absent: [{ title: 'Project memory', why: error.line }] };
  }
}

type Progress = Awaited<ReturnType<ProjectState['progress']>>;
type Unwritten = NonNullable<Awaited<ReturnType<Progress['unwritten']>>>;

/** Who comes first when room is given out: what only the project has, before texts that can be had at any time. */
const RANK = { required: 0, near: 1, plan: 2, main: 3, template: 4, steps: 5 };

interface Matter {
  message?: string | undefined;
  topic: string;
  target: BmadRecord;
}

/**
 * The story that is worked on, and of the plans the sections that are about the matter. What a story has to fulfil and what
 * there is to do for it come before everything else: without them a worker can only guess.
 */
async function documentPieces(
  { topic, target, message }: Matter,
  workspace: Workspace,
  context: StatePort,
  say: SayStep,
): Promise<{ story: Piece[]; plans: Piece[] }> {
  if (workspace.project.root === undefined) return { story: [], plans: [] };
  const progress = await (await context.state()).progress();
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
  if (unwritten !== undefined) pieces.unshift(unwrittenPiece(unwritten, target, context, say));
  const unknown = await progress.unknownStory(undefined, message);
  if (unknown !== undefined)
    pieces.unshift(essential('Story', unknownLine(unknown).replace(/^- story: n/, 'N')));
  const isRequired = ({ required }: Piece): boolean => required > 0;
  return { story: pieces.filter(isRequired), plans: pieces.filter((piece) => !isRequired(piece)) };
}

/** Nothing is more misleading than a context without the story it is about. */
function unwrittenPiece(
  { id, place, worker }: Unwritten,
  target: BmadRecord,
  { project }: ProjectPort,
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
  return essential('Story', `Story ${id} has no file yet; it is planned in ${place}.${does}`);
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
