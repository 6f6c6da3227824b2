import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { answerRoom, fitItems } from '../../base/text/paging.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const DEFAULT_HITS = 8;
const RESERVED = 1_200;
const WIDER = 'Without path and lang, the whole project is searched.';

const usesSchema = z
  .array(z.object({ path: z.string(), line: z.int(), symbol: z.string().optional() }))
  .optional();

const hitSchema = z.object({
  path: z.string(),
  start: z.int(),
  end: z.int(),
  symbol: z.string().optional(),
  kind: z.string(),
  language: z.string(),
  score: z.number(),
  parts: z.record(z.string(), z.number()),
  snippet: z.array(z.object({ line: z.int(), text: z.string() })),
  calls: usesSchema,
  tests: usesSchema,
});

type Hit = z.output<typeof hitSchema>;

export const searchCodebase = defineOperation({
  name: 'search_codebase',
  title: "Search the project's code",
  description:
    "Search the project's code and documents: finds functions, classes and passages, and answers with path:lines, symbol and a few lines of each.",
  effect: 'read',
  toolset: 'memory',
  command: 'code',
  // By position, because --path is a setting of every command.
  positional: ['query', 'path'],
  examples: ['code "where is the session closed" --limit 3'],
  input: z.strictObject({
    query: z
      .string()
      .trim()
      .min(1)
      .max(200_000)
      .describe('What the code does, a name, or "exact text" in quotes'),
    path: z
      .string()
      .trim()
      .min(1)
      .max(1_000)
      .optional()
      .describe('Folder, file or pattern, e.g. src/**/*.ts'),
    lang: z.string().trim().min(1).max(50).optional().describe('Language, e.g. typescript'),
    limit: z.int().min(1).max(50).optional().describe('Maximum results (8)'),
    project: projectField,
  }),
  output: z.object({
    query: z.string(),
    total: z.int(),
    items: z.array(hitSchema),
    /** Whether files were not read yet. */
    partial: z.boolean(),
    files: z.object({ known: z.int(), indexed: z.int() }),
    /** How many files the path and the language take, and how many of these, and of the matches, are code. */
    searched: z.object({ files: z.int(), code: z.int(), hits: z.int() }),
    legs: z.array(z.enum(['words', 'vectors', 'exact'])),
    notes: z.array(z.string()),
  }),

  async run({ query, path, lang, limit }, context, call) {
    const { root } = (await context.workspace()).project;
    if (root === undefined)
      throw new BmadError('not_found', t`There is no project to search.`, {
        hint: t`Start the server in a project, name one with --project or BMAD_PROJECT_ROOT, or pass the argument "project".`,
      });
    const codebase = await context.codebase(root);
    const asked = { query, path, lang, limit: limit ?? DEFAULT_HITS };
    const { hits, ...found } = await codebase.search(asked, call.signal, call.progress);
    const items = fitItems(hits, answerRoom(context.config.answerBytes, RESERVED), hitText);
    // A part of the project says nothing about the rest.
    const isWhole = path === undefined && lang === undefined;
    const notes = isWhole || items.length > 0 ? found.notes : [say(WIDER), ...found.notes];
    return { ...found, notes, query: query.slice(0, 200), items };
  },

  render({ query, total, items, partial, notes, files, searched }) {
    const remarks = notes.length === 0 ? '' : ` ${notes.join(' ')}`;
    const { code } = searched;
    const which = t`${plural(searched.files, 'file')} searched (${code} of code, ${searched.files - code} of documents and configuration)`;
    if (items.length === 0)
      return {
        body: t`Nothing in the ${which} matches ${JSON.stringify(query)}${partial ? t` so far` : ''}.`,
        note: t`Try other words or a name.${remarks}`,
      };
    const isByWords = items.some(({ parts }) => (parts['words'] ?? parts['exact']) !== undefined);
    // A model that asks for code takes what it gets for code.
    const isOther = searched.hits === 0 && searched.files === files.known;
    const first = isByWords
      ? isOther && t`No code in the ${which} matches. These do:`
      : t`The nearest in meaning among the ${which}; none contains these words:`;
    return {
      body: [...(first === false ? [] : [first]), ...items.map(hitText)].join('\n\n'),
      note: isByWords
        ? t`${items.length} of ${plural(total, 'match', 'matches')}, best first.${remarks}`
        : t`Try other words or a name.${remarks}`,
    };
  },
});

function hitText({ path, start, end, symbol, kind, language, snippet, calls, tests }: Hit): string {
  const what = symbol === undefined ? kind : `${kind} ${symbol}`;
  const width = String(snippet.at(-1)?.line ?? 0).length;
  const lines = snippet.map(({ line, text }) => `  ${String(line).padStart(width)} ${text}`);
  return [
    `${path}:${start}-${end} ${what} (${language})`,
    ...lines,
    ...usesLine(t`called by`, calls),
    ...usesLine(t`tested by`, tests),
  ].join('\n');
}

function usesLine(what: string, uses: Hit['calls']): string[] {
  const places = (uses ?? []).map(
    ({ path, line, symbol }) => `${path}:${line}${symbol === undefined ? '' : ` ${symbol}`}`,
  );
  return places.length === 0 ? [] : [`  ${what} ${places.join(', ')}`];
}
