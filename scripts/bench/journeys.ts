import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient, type Client, type Program } from './client.ts';
import { ANSWERED, QUESTION, writeDocumentsProject } from './made-project.ts';
import { AGENT } from './peer.ts';

/** What a user wants, and what it costs until a model can begin. */
export interface Journey {
  title: string;
  calls: number;
  /** Of all answers together, which is what the model has to read. */
  bytes: number;
  /** What the peer took for the same in its recorded sessions. */
  peer?: { calls: number; tokens: number };
}

export interface Journeys {
  journeys: Journey[];
  /** Every skill's main file together: what a host would load to have all agents and workflows at hand. */
  everythingBytes: number;
  mainFiles: number;
  /** A name that many have: the answer, and a list of the same with all that is known of each. */
  ambiguous: { bytes: number; rawBytes: number };
  /** The project's documents, which the journey with them would otherwise read whole. */
  documentBytes: number;
}

/** The sentence and the workflow it is about. */
const WISH = {
  sentence: 'break my product down into epics and stories',
  workflow: 'create-epics-and-stories',
};
const WORKFLOW = 'prd';
/** Part of the name of every agent, so that it stands for all of them. */
const PART_OF_NAMES = 'bmad-agent';
/** Measured on the peer's transcripts of these two, with the same four bytes a token. */
const PEER = { agent: { calls: 4, tokens: 2_540 }, workflow: { calls: 6, tokens: 7_990 } };

interface JourneyPlaces {
  /** The built-in content. */
  content: string;
  /** The repository, whose documents are those of the project. */
  root: string;
  /** An empty folder for that project. */
  project: string;
}

export async function measureJourneys(ours: Program, places: JourneyPlaces): Promise<Journeys> {
  const everything = await mainFiles(places.content);
  const { documentBytes } = await writeDocumentsProject(places.project, places.root);
  const compiled = await withClient({ ...ours, folder: places.project }, withDocuments);
  return withClient(ours, async (client) => {
    await client.start();
    const ask = (args: Record<string, unknown>, expected: string): Promise<string> =>
      textOf(client, args, expected);
    const agent = await ask({ operation: 'execute', agent: AGENT, message: 'hi' }, 'Winston');
    const workflow = await ask({ operation: 'execute', workflow: WORKFLOW }, WORKFLOW);
    const whole = await allParts(client, { operation: 'execute', workflow: WORKFLOW });
    const found = await ask({ operation: 'search', query: WISH.sentence }, WISH.workflow);
    const best = /\{operation:"execute", workflow:"([^"]+)"\}/.exec(found)?.[1] ?? '';
    if (best !== WISH.workflow) throw new Error(`The search for ${WISH.sentence} put ${best} first.`);
    const started = await ask({ operation: 'execute', workflow: best }, WISH.workflow);
    const lists = [
      ...(await allParts(client, { operation: 'list', query: 'agents' })),
      ...(await allParts(client, { operation: 'list', query: 'workflows' })),
    ];
    const raw = await ask({ operation: 'list', query: 'agents', detail: 'full' }, PART_OF_NAMES);
    const ambiguous = await ask({ operation: 'read', agent: PART_OF_NAMES }, 'Most likely');
    return {
      journeys: [
        journey('activate an agent', [agent], PEER.agent),
        journey('start a workflow', [workflow], PEER.workflow),
        journey('start a workflow, and read it to its end', whole),
        journey('find the right workflow for a sentence, and start it', [found, started]),
        journey('an agent with the project’s documents, in 8,000 tokens', [compiled]),
        journey('list all agents and workflows', lists),
      ],
      ...everything,
      ambiguous: { bytes: Buffer.byteLength(ambiguous), rawBytes: Buffer.byteLength(raw) },
      documentBytes,
    };
  });
}

/** An agent in a project with documents; the answer has to hold what they say about the question. */
async function withDocuments(client: Client): Promise<string> {
  await client.start();
  const args = { operation: 'context', agent: AGENT, message: QUESTION, budget: 8_000 };
  const text = await textOf(client, args, ANSWERED);
  if (text.includes('Winston')) return text;
  throw new Error('The context of the agent is without the agent.');
}

function journey(title: string, answers: readonly string[], peer?: Journey['peer']): Journey {
  const bytes = answers.reduce((sum, answer) => sum + Buffer.byteLength(answer), 0);
  return { title, calls: answers.length, bytes, ...(peer === undefined ? {} : { peer }) };
}

/** The text of an answer, also of one that asks back. */
async function textOf(client: Client, args: Record<string, unknown>, expected: string): Promise<string> {
  const { result } = await client.request('tools/call', { name: 'bmad', arguments: args });
  const { content = [] } = (result ?? {}) as { content?: { type: string; text?: string }[] };
  const text = content.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('');
  if (text.includes(expected)) return text;
  throw new Error(`${JSON.stringify(args)} was not answered as expected:\n${text.slice(0, 600)}`);
}

async function allParts(client: Client, args: Record<string, unknown>): Promise<string[]> {
  const parts: string[] = [];
  for (let cursor: string | undefined; ;) {
    const text = await textOf(client, cursor === undefined ? args : { ...args, cursor }, '');
    parts.push(text);
    cursor = /cursor "([^"]+)"/.exec(text.slice(-600))?.[1];
    if (cursor === undefined) return parts;
  }
}

async function mainFiles(content: string): Promise<Pick<Journeys, 'everythingBytes' | 'mainFiles'>> {
  const entries = await readdir(content, { recursive: true });
  const files = entries.filter((path) => /(?:^|[\\/])SKILL\.md$/.test(path));
  const sizes = await Promise.all(files.map(async (path) => (await stat(join(content, path))).size));
  return { everythingBytes: sizes.reduce((sum, size) => sum + size, 0), mainFiles: files.length };
}

/** How much less a journey costs than loading everything, in percent. */
export function percentSaved({ bytes }: Journey, { everythingBytes }: Journeys): number {
  return 100 * (1 - bytes / everythingBytes);
}

export function ambiguousSaved({ ambiguous: { bytes, rawBytes } }: Journeys): number {
  return 100 * (1 - bytes / rawBytes);
}
