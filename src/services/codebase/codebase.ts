import { isAbsolute, join, relative } from 'node:path';
import { once } from '../../base/async.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { codeWords, splitIdentifier, type IndexedFile } from './words.ts';
import { globMatcher } from '../../base/text/glob.ts';
import { forAll, plural, t } from '../../base/text/message.ts';
import { nearest } from '../../base/text/suggest.ts';
import { withoutEnd } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import { dot, type Embedder, normalized } from '../../meaning/vectors.ts';
import { createGrammars, isProse, knownLanguage, languageOf } from './chunks.ts';
import { type ExactMatch, matchesByIndex, matchesByRipgrep, matchesByScan, needlesOf } from './exact.ts';
import { addUses, type CodeHit, hitsOf } from './hits.ts';
import { type Indexer, openIndexer } from './indexer.ts';
import { pieceOf } from './pieces.ts';
import { byScore, type CodeQuestion, rank, type Ranked } from './rank.ts';
import { ripgrepProgram } from './ripgrep.ts';
import type { CodebaseParts, FileList } from './survey.ts';
import { embedQuestion, fileWords } from './vectors.ts';

export type { CodebaseParts } from './survey.ts';

export interface CodeQuery {
  query: string;
  path?: string | undefined;
  lang?: string | undefined;
  limit: number;
}

export interface CodeAnswer {
  hits: CodeHit[];
  /** How many pieces have anything to do with the question. */
  total: number;
  /** Whether files were not read yet: there may be more to find. */
  partial: boolean;
  files: { known: number; indexed: number };
  /** How many files the path and the language take, and how many of these, and of the hits, are code. */
  searched: { files: number; code: number; hits: number };
  legs: ('words' | 'vectors' | 'exact')[];
  notes: string[];
}

export interface Codebase {
  search(query: CodeQuery, signal: AbortSignal, tell: (message: string) => void): Promise<CodeAnswer>;
  stop(): void;
}

export interface OpenedCodebase extends Codebase {
  /** Reads the index and looks at the files, before anybody asks. */
  ready(): Promise<void>;
}

/** The words of code as long as nothing better is handed in. */
const CODE_ANALYSER: Analyser = { id: 'code-1', terms: codeWords };

const REFINED_FILES = 12;
/** A pasted file is a question by its beginning. */
const ASKED_LENGTH = 4_000;

/** The code of one project, read when first asked for and kept up to date from then on. */
export function createCodebase(parts: CodebaseParts): OpenedCodebase {
  const { root, embedder, log } = parts;
  const analyser = parts.analyser ?? CODE_ANALYSER;
  const grammars = createGrammars(parts.without?.grammars !== true);
  const ripgrep = parts.without?.ripgrep === true ? undefined : ripgrepProgram();
  let opened: Indexer | undefined;
  const indexer = once(async () => {
    const place = join(parts.cache, 'code', `${sha256(root).slice(0, 24)}.index`);
    opened = await forAll(() => openIndexer({ ...parts, place, analyser, embedder, grammars, ripgrep }));
    return opened;
  });

  let all: { of: readonly string[]; code: number } | undefined;
  /** Of all files, counted once for a list: most of the time it is that of the question before. */
  function counted(
    paths: readonly string[],
    takes?: (path: string) => boolean,
  ): { files: number; code: number } {
    const taken = takes === undefined ? paths : paths.filter(takes);
    const code = (): number => taken.filter((path) => !isProse(languageOf(path))).length;
    if (takes !== undefined) return { files: taken.length, code: code() };
    if (all?.of !== paths) all = { of: paths, code: code() };
    return { files: taken.length, code: all.code };
  }

  async function exactMatches(
    needles: CodeQuestion['needles'],
    work: Indexer,
    deadline: number,
    signal: AbortSignal,
  ): Promise<ExactMatch[]> {
    if (needles.length === 0) return [];
    const known =
      work.pending().files > 0 ? undefined : await matchesByIndex(root, needles, work.index, signal);
    if (known !== undefined) return known;
    const found = ripgrep === undefined ? undefined : await matchesByRipgrep(ripgrep, root, needles, signal);
    return found ?? matchesByScan(root, needles, work.index, deadline, signal);
  }

  return {
    async search({ query, path, lang, limit }, signal, tell) {
      const deadline = performance.now() + parts.budgetMs;
      const language = lang === undefined ? undefined : knownLanguage(lang);
      const inPath = path === undefined ? (): boolean => true : pathFilter(root, path);
      const takes = (file: string): boolean =>
        inPath(file) && (language === undefined || languageOf(file) === language);
      const work = await indexer();
      const asking = path === undefined ? undefined : plainPath(root, path);
      const survey = () => work.survey(takes, asking, signal);
      let list = await survey();
      if (path !== undefined && !list.paths.some(inPath)) throw nothingAt(path, list.paths);
      await work.work(deadline, signal, tell);

      const asked = query.slice(0, ASKED_LENGTH);
      const needles = needlesOf(asked);
      const [matches, vector] = await Promise.all([
        exactMatches(needles, work, deadline, signal),
        embedder === undefined
          ? undefined
          : embedQuestion(embedder, asked, signal).catch((error: unknown) => {
              signal.throwIfAborted();
              log.info('code search: embedder', { error: String(error) });
              return undefined;
            }),
      ]);
      const question: CodeQuestion = {
        words: work.index.vocabulary.asked(asked),
        vector,
        needles,
        matches,
        tests: /\b(?:tests?|specs?)\b/i.test(asked),
        takes: (file: IndexedFile) => takes(file.path),
      };
      signal.throwIfAborted();
      const ranking = async () => withNames(rank(work.index, question), embedder, vector, signal);
      let ranked = await ranking();
      // What no word leads to, meaning may: the first question would be answered otherwise than the second.
      if (vector !== undefined && work.pending().vectors > 0 && !ranked.best.some(isByWords)) {
        await work.work(deadline, signal, tell, true);
        ranked = await ranking();
      }
      const first = [...new Set(ranked.best.slice(0, limit * 2).map(({ file }) => file.path))];
      const isStale = !first.every(work.isCurrent);
      if (isStale) {
        list = await survey();
        await work.work(deadline, signal, tell);
      }
      const rough = first.filter((file) => work.index.files.get(file)?.rough === true);
      await work.refine(rough.slice(0, REFINED_FILES));
      if (isStale || rough.length > 0) ranked = await ranking();
      signal.throwIfAborted();
      const unread = unreadMatches(matches, work, list, takes);
      const hits = await hitsOf({ root, ranked: ranked.best, unread, limit, question, analyser });
      await addUses(root, work.index, question, hits);
      work.lookAgain();
      return {
        hits,
        total: ranked.total + unread.length,
        partial: work.pending().files > 0 || list.left > 0,
        files: { known: list.paths.length + list.left, indexed: work.index.files.size },
        searched: {
          ...counted(list.paths, path === undefined && language === undefined ? undefined : takes),
          hits: hits.filter((hit) => !isProse(hit.language)).length,
        },
        legs: [
          'words',
          ...(vector === undefined ? [] : (['vectors'] as const)),
          ...(needles.length === 0 ? [] : (['exact'] as const)),
        ],
        notes: [
          ...work.takeNotes(),
          ...notesOf(work, list, { embedder, vector, grammars: grammars.available }),
          ...(hits.length === 0 && list.own > 0 && path === undefined
            ? [
                t`BMAD's own files and state are left out (${plural(list.own, 'file')}); name their folder as the path to search them.`,
              ]
            : []),
        ],
      };
    },
    async ready(): Promise<void> {
      await (await indexer()).survey(() => true, undefined, new AbortController().signal);
    },
    stop: (): void => opened?.stop(),
  };
}

const isByWords = ({ parts: { words, exact } }: Ranked): boolean => (words ?? exact) !== undefined;

/** What ripgrep has found in files that are not in the index yet. */
function unreadMatches(
  matches: readonly ExactMatch[],
  { index }: Indexer,
  { paths }: FileList,
  takes: (path: string) => boolean,
): ExactMatch[] {
  if (matches.every(({ path }) => index.files.has(path))) return [];
  const known = new Set(paths);
  return matches.filter(({ path }) => known.has(path) && !index.files.has(path) && takes(path));
}

function notesOf(
  work: Indexer,
  list: FileList,
  { embedder, vector, grammars }: { embedder: Embedder | undefined; vector: unknown; grammars: boolean },
): string[] {
  const { files, rough, vectors } = work.pending();
  const notes: string[] = [];
  if (files > 0)
    notes.push(t`Partial: files not read yet: ${files} of ${list.paths.length}. Search again for the rest.`);
  if (list.left > 0)
    notes.push(
      t`The project has ${list.left} more files than can be searched; to reach them, pass a subfolder as the project.`,
    );
  if (files === 0 && rough > 0)
    notes.push(t`${plural(rough, 'file has', 'files have')} not been split into functions yet.`);
  if (embedder !== undefined && vector === undefined)
    notes.push(t`The embedder did not respond: words only.`);
  else if (files === 0 && vectors > 0)
    notes.push(
      t`${plural(vectors, 'file has', 'files have')} no vectors yet. Search again a little later to find more by meaning.`,
    );
  if (!grammars)
    notes.push(
      t`The optional packages web-tree-sitter and @vscode/tree-sitter-wasm are missing: results are line ranges without names.`,
    );
  return notes;
}

/** Which paths a caller's folder, file or pattern takes. */
function pathFilter(root: string, given: string): (path: string) => boolean {
  const wanted = plainPath(root, given);
  if (wanted === '') return () => true;
  if (!/[*?]/.test(wanted)) return (path) => path === wanted || path.startsWith(`${wanted}/`);
  // A pattern without a folder applies to files in any folder.
  return globMatcher(wanted.includes('/') ? wanted : `**/${wanted}`);
}

function plainPath(root: string, given: string): string {
  const slashed = given.trim().replaceAll('\\', '/');
  const inside = isAbsolute(given.trim()) ? relative(root, given.trim()).replaceAll('\\', '/') : slashed;
  const parts: string[] = [];
  for (const part of inside.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) throw outside(given);
  }
  if (/^[A-Za-z]:$/.test(parts[0] ?? '') || given.includes('\0')) throw outside(given);
  return parts.join('/');
}

function outside(given: string): BmadError {
  return new BmadError('forbidden', t`The path ${quoted(given)} is outside the project.`, {
    subject: given.slice(0, 200),
    hint: t`Use a folder, a file or a pattern inside the project: "src", "src/app.ts" or "src/**/*.ts".`,
  });
}

/** The error for a path that takes no file, with folders and files of a name like it. */
function nothingAt(given: string, paths: readonly string[]): BmadError {
  const places = new Set<string>();
  for (const path of paths.slice(0, 5_000)) {
    places.add(path);
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1))
      places.add(path.slice(0, slash));
  }
  const wanted = withoutEnd(given.replace(/^\.?\/+/, ''), '/');
  return new BmadError('not_found', t`The project has no files at ${quoted(given)}.`, {
    subject: given.slice(0, 200),
    suggestions: /[*?]/.test(given) ? [] : nearest(wanted, places),
    hint: t`Use a folder, a file or a pattern: "src", "src/app.ts" or "src/**/*.ts". Ignored and secret files are not searched.`,
  });
}

/** What the meaning of a name counts. Chosen on one half of the pairs; see docs/measurements/code-search.md. */
const NAME_SHARE = 0.8;
/** Only the best are looked at again: a name that fits cannot make up for everything else. */
const LOOKED_AT = 100;

/**
 * The same with the best in the order that the meaning of their names gives them as well. The vector of a piece is of all
 * its code, in which the few words that say what it is for get lost.
 */
export async function withNames(
  ranked: { best: Ranked[]; total: number },
  embedder: Embedder | undefined,
  asked: Float32Array | undefined,
  signal: AbortSignal,
): Promise<{ best: Ranked[]; total: number }> {
  if (embedder === undefined || asked === undefined) return ranked;
  const first = ranked.best.slice(0, LOOKED_AT);
  const vectors = await embedder.embed(first.map(nameOf), signal);
  for (const [at, hit] of first.entries()) {
    const near = dot(normalized(vectors[at] ?? new Float32Array()), asked);
    if (!(near > 0)) continue;
    hit.parts.name = near;
    hit.score += NAME_SHARE * near * (hit.parts.weight ?? 1);
  }
  return { ...ranked, best: [...first.sort(byScore), ...ranked.best.slice(LOOKED_AT)] };
}

/** A piece without a name is called like its file. */
function nameOf({ file, chunk }: Ranked): string {
  const { symbol } = pieceOf(file, chunk);
  return `${splitIdentifier(symbol.replaceAll('.', ' ')).join(' ')}\n${fileWords(file.path)}`;
}
