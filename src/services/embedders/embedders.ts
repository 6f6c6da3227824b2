import { basename, join, resolve } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import { chooseEmbedder, type EmbedderSettings } from '../../meaning/embedders/choose.ts';
import type { TableEmbedder } from '../../meaning/embedders/table.ts';

const FILE = 'embedders.json';
const MOST = 20;
const NAME = /^[\w.-]{1,80}$/;

/** A table that a person has added: where it is, and what it is called. */
export interface AddedTable {
  name: string;
  folder: string;
}

/** What one embedder finds for a question, best first. */
export interface Trial {
  /** What a person calls it: "built in", the name of a table, "ollama". */
  name: string;
  id?: string;
  dim?: number;
  /** Until it was ready, and then for each text, in milliseconds. */
  openMs?: number;
  textMs?: number;
  hits: { index: number; score: number }[];
  /** Why it could not be tried. */
  problem?: string;
}

/** For the user of this machine alone. */
export interface EmbeddersPort {
  embedders(): Promise<Embedders>;
}

type Embedders = ReturnType<typeof openEmbedders>;

/** The embedders that a person can choose from: the built-in one, tables that were added, and those the settings name. */
export function openEmbedders(state: string, cwd: string, settings: EmbedderSettings) {
  const place = join(state, FILE);
  const candidates = async (): Promise<[string, () => Promise<Embedder | undefined>][]> => [
    ['built in', () => chooseEmbedder({ ...settings, embedder: 'static' })],
    ...(await addedIn(place)).map(({ name, folder }): [string, () => Promise<Embedder>] => [
      name,
      () => opened(folder, name),
    ]),
    ...configured(settings).map((embedder): [string, () => Promise<Embedder | undefined>] => [
      embedder,
      () => chooseEmbedder({ ...settings, embedder }),
    ]),
  ];
  return {
    place,
    added: () => addedIn(place),

    /** Reads the table first: only one that can be used is added. */
    async add(
      folder: string,
      given?: string,
    ): Promise<{ name: string; table: TableEmbedder; already: boolean }> {
      const table = await opened(resolve(cwd, folder), given);
      const name = given ?? basename(table.folder);
      if (!NAME.test(name))
        throw new BmadError('invalid_input', `A table cannot be called ${quoted(name)}.`, {
          hint: 'Give it a name of letters, digits, dots and hyphens with --name.',
        });
      const known = await addedIn(place);
      const same = known.find((each) => each.name === name);
      if (same !== undefined && same.folder !== table.folder)
        throw new BmadError('conflict', `Another table is called ${quoted(name)}: ${same.folder}`, {
          hint: 'Give this one another name with --name, or remove the other first.',
        });
      if (known.length >= MOST && same === undefined)
        throw new BmadError('conflict', `There are ${MOST} tables already.`, { hint: 'Remove one first.' });
      if (same === undefined) await write(place, [...known, { name, folder: table.folder }]);
      return { name, table, already: same !== undefined };
    },

    /** Forgets a table; its folder stays as it is. */
    async remove(name: string): Promise<AddedTable> {
      const known = await addedIn(place);
      const found = named(name, known);
      await write(
        place,
        known.filter((each) => each !== found),
      );
      return found;
    },

    /** Asks each embedder which of these texts is nearest to the question. One that fails says so and holds up no other. */
    async compare(
      question: string,
      texts: readonly string[],
      most: number,
      signal?: AbortSignal,
    ): Promise<Trial[]> {
      const trials: Trial[] = [];
      for (const [name, open] of await candidates())
        trials.push(await tried(name, open, question, texts, most, signal));
      return trials;
    },
  };
}

/** The folder of a table that was added; without a name, of the only one. */
export async function addedFolder(state: string, name: string | undefined): Promise<AddedTable> {
  const known = await addedIn(join(state, FILE));
  if (name !== undefined) return named(name, known);
  const [only, other] = known;
  if (only !== undefined && other === undefined) return only;
  throw new BmadError(
    'invalid_input',
    only === undefined
      ? 'The table embedder needs a table, and none was added.'
      : 'Several tables were added, and none is chosen.',
    {
      hint:
        only === undefined
          ? 'Add a folder with a table first.'
          : `Set embedding_model to one of ${known.map((each) => each.name).join(', ')}.`,
    },
  );
}

function named(name: string, known: readonly AddedTable[]): AddedTable {
  const found = known.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new BmadError('not_found', `No table called ${quoted(name)} was added.`, {
    subject: name,
    suggestions: known.map((each) => each.name),
  });
}

async function opened(folder: string, name?: string): Promise<TableEmbedder> {
  const { openTable } = await import('../../meaning/embedders/table.ts');
  return openTable(folder, name);
}

/** Those the settings name; texts go to a server only if a person has chosen it for that. */
function configured(settings: EmbedderSettings): ('ollama' | 'openai' | 'transformers')[] {
  const { embedder, ollamaUrl, transformersModel } = settings;
  return [
    ...(embedder === 'ollama' || ollamaUrl !== undefined ? (['ollama'] as const) : []),
    ...(embedder === 'openai' ? (['openai'] as const) : []),
    ...(embedder === 'transformers' || transformersModel !== undefined ? (['transformers'] as const) : []),
  ];
}

async function tried(
  name: string,
  open: () => Promise<Embedder | undefined>,
  question: string,
  texts: readonly string[],
  most: number,
  signal?: AbortSignal,
): Promise<Trial> {
  try {
    const began = performance.now();
    const embedder = await open();
    if (embedder === undefined) return { name, hits: [] };
    const ready = performance.now();
    const [asked = new Float32Array(), ...vectors] = await embedder.embed([question, ...texts], signal);
    const textMs = (performance.now() - ready) / (texts.length + 1);
    const hits = vectors
      .map((vector, index) => ({ index, score: cosine(asked, vector) }))
      .sort((a, b) => b.score - a.score)
      .slice(0, most);
    return { name, id: embedder.id, dim: embedder.dim, openMs: ready - began, textMs, hits };
  } catch (error) {
    signal?.throwIfAborted();
    return ours(({ line }): Trial => ({ name, hits: [], problem: line }))(error);
  }
}

/** Servers need not give vectors of length one. */
function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  let first = 0;
  let second = 0;
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? 0;
    product += value * other;
    first += value * value;
    second += other * other;
  }
  return first === 0 || second === 0 ? 0 : product / Math.sqrt(first * second);
}

async function addedIn(place: string): Promise<AddedTable[]> {
  const tables = jsonObject((await readState(place)) ?? '')?.['tables'];
  return (Array.isArray(tables) ? tables : []).flatMap((each: unknown) => {
    const { name, folder } = isTable(each) ? each : {};
    return typeof name === 'string' && NAME.test(name) && typeof folder === 'string'
      ? [{ name, folder }]
      : [];
  });
}

async function write(place: string, tables: readonly AddedTable[]): Promise<void> {
  await writeAtomic(place, `${JSON.stringify({ tables }, null, 2)}\n`);
}
