import { gitAdditions, type GitAddition } from '../../base/process/project-git.ts';
import type { ProgramEnvironment } from '../../base/process/process.ts';
import type { Item } from './model.ts';

/** When a story was first seen, begun and done, as far as the history of its files tells. */
export interface StoryDates {
  id: string;
  planned: string;
  started?: string;
  done?: string;
}

interface Asked {
  env: ProgramEnvironment;
  signal: AbortSignal;
}

const GIT_MS = 10_000;
/** The newest so many commits that have touched a ledger or a story; what came before is not looked at. */
const MOST_COMMITS = 2_000;
const MOST_FILES = 400;
/** A line of a ledger is short; whatever is longer is something else. */
const LONGEST_LINE = 400;

const BEGUN = /^(?:in[- ]?progress|doing|started|review|in[- ]review|ready[- ]for[- ]review|qa|testing)$/i;
const DONE = /^(?:done|complete|completed|closed|finished)$/i;

/** The dates of stories by the history of the files that speak of them; nothing where there is no history. */
export async function storyDates(root: string, items: readonly Item[], asked: Asked): Promise<StoryDates[]> {
  const stories = items.filter(({ kind }) => kind === 'story');
  const files = new Map<string, string[]>();
  for (const { id, evidence } of stories)
    for (const { file } of evidence) files.set(file, [...(files.get(file) ?? []), id]);
  const paths = [...files.keys()].slice(0, MOST_FILES);
  if (paths.length === 0) return [];
  const question = { ...asked, timeoutMs: GIT_MS };
  const added = (await gitAdditions(root, question, { paths, most: MOST_COMMITS })) ?? [];
  return datesIn(added, new Set(stories.map(({ id }) => id)), files);
}

/** The first commit in which a story has a word gives its date. */
function datesIn(
  added: readonly GitAddition[],
  ids: ReadonlySet<string>,
  files: ReadonlyMap<string, readonly string[]>,
): StoryDates[] {
  const found = new Map<string, StoryDates>();
  const note = (id: string, word: string, at: string): void => {
    const known = found.get(id) ?? { id, planned: at };
    const isDone = DONE.test(word);
    found.set(id, {
      ...known,
      ...((isDone || BEGUN.test(word)) && known.started === undefined ? { started: at } : {}),
      ...(isDone && known.done === undefined ? { done: at } : {}),
    });
  };
  for (const { at: time, file, line } of added) {
    if (line.length > LONGEST_LINE) continue;
    const at = new Date(time).toISOString();
    const own = files.get(file) ?? [];
    const { key, word } = entryIn(line);
    if (ids.has(key)) note(key, word, at);
    // The file of one story has its status in a line of its own.
    else if (own.length === 1 && own[0] !== undefined && key.toLowerCase() === 'status')
      note(own[0], word, at);
  }
  return [...found.values()];
}

const bare = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, ' ').trim();

/** What a line says of what: `1-1-setup: done`, `**Status:** in progress`, with or without quotes and bullets. */
function entryIn(line: string): { key: string; word: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { key: '', word: '' };
  const [said = ''] = line.slice(colon + 1).split('#', 1);
  return { key: bare(line.slice(0, colon)).replace(/^- /, ''), word: bare(said) };
}
