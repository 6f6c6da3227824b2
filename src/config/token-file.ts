import { isAbsolute, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BmadError, ours } from '../base/errors.ts';
import { modifiedAt, readState } from '../base/files/file-state.ts';
import { realFolder } from '../base/files/files.ts';
import type { Bounds, KnownToken } from '../base/http/http-route.ts';
import { TOOLSETS } from '../base/product.ts';
import { t } from '../base/text/message.ts';
import { SHORTEST_TOKEN } from './http-settings.ts';

export interface TokenLines {
  tokens: KnownToken[];
  /** The numbers of the lines that are neither a token nor a comment. */
  bad: number[];
}

const RIGHTS = new Set(['read', 'write', 'a2a', 'person']);
const LONGEST_NAME = 60;

/**
 * A line is a token, what it may do, and whose it is: in a word, or in a comment. With a word as the name, what the token
 * may do has to be said: a misspelt right must not be taken for a name. A bad line takes nothing from the others: a token
 * that is taken out of the file ends, whatever else it has.
 */
export function tokenLines(text: string): TokenLines {
  const found: TokenLines = { tokens: [], bad: [] };
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const [, line = '', comment = ''] = /^(.*?)(?:(?:^|\s)#(.*))?$/s.exec(raw.trim()) ?? [];
    const words = line.split(/\s+/).filter((word) => word !== '');
    if (words.length === 0) continue;
    const token = tokenOf(words, comment);
    if (token === undefined) found.bad.push(index + 1);
    else found.tokens.push(token);
  }
  return found;
}

function tokenOf([token = '', ...words]: readonly string[], comment: string): KnownToken | undefined {
  if (token.length < SHORTEST_TOKEN || !/^[\w.~+/=-]+$/.test(token)) return undefined;
  const rights = words.filter((word) => RIGHTS.has(word));
  const bounds = boundsOf(words.filter(isBound));
  const names = words.filter((word) => !RIGHTS.has(word) && !isBound(word));
  if (bounds === undefined) return undefined;
  if (rights.length > 1 || names.length > rights.length || !names.every(isName)) return undefined;
  const name =
    names[0] ??
    comment
      .replaceAll(/\p{C}+/gu, ' ')
      .trim()
      .slice(0, LONGEST_NAME);
  return {
    token,
    mayWrite: rights[0] !== 'read',
    ...(rights[0] === 'a2a' ? { only: 'a2a' } : {}),
    ...(rights[0] === 'person' ? { person: true } : {}),
    ...(Object.keys(bounds).length === 0 ? {} : { bounds }),
    ...(name === '' ? {} : { name }),
  };
}

const isBound = (word: string): boolean => word.includes('=');

/** With something else than "=" between a bound and its value, it must not be taken for a name: nothing would be bounded. */
const BOUNDS = /^(?:projects?|toolsets?|tasks?|memor(?:y|ies)|calls?)(?![\p{L}])/iu;

/** Nothing where one of them is not understood: a bound that does not count would leave more open. */
function boundsOf(words: readonly string[]): Bounds | undefined {
  const projects: string[] = [];
  const bounds: { -readonly [K in keyof Bounds]: Bounds[K] } = {};
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    const value = rest.join('=');
    if (name === 'project' && isAbsolute(value)) projects.push(resolve(value));
    else if (name === 'toolset' && value.split(',').every(isToolset) && bounds.toolsets === undefined)
      bounds.toolsets = value.split(',');
    else if (isCounted(name) && /^[1-9]\d{0,8}$/.test(value) && bounds[name] === undefined)
      bounds[name] = Number(value);
    else return undefined;
  }
  return projects.length === 0 ? bounds : { ...bounds, projects };
}

const isCounted = (name: string): name is 'tasks' | 'memories' | 'calls' =>
  ['tasks', 'memories', 'calls'].includes(name);

const isToolset = (name: string): boolean => (TOOLSETS as readonly string[]).includes(name);

const isName = (word: string): boolean =>
  word.length <= LONGEST_NAME && /^[\p{L}\p{N}._@+-]+$/u.test(word) && !BOUNDS.test(word);

/** Whoever writes a file has ended its last line by then, or does not end it. */
const SETTLED_MS = 1_000;

export async function readTokens(file: string): Promise<TokenLines> {
  // Secrets are mounted into containers as links.
  const read = () => readState(file, { follow: true });
  let text = await read();
  // Half a line may be a token without what bounds it: a file that is being written is read when it has been.
  while (text?.endsWith('\n') === false && (await isFresh(file))) {
    await delay(SETTLED_MS / 10);
    text = await read();
  }
  if (text !== undefined) return tokenLines(text);
  throw new BmadError('invalid_input', t`There is no file ${file}.`, {
    hint: t`Set http_token_file, or --http-token-file, to a file with tokens.`,
  });
}

async function isFresh(file: string): Promise<boolean> {
  const at = await modifiedAt(file);
  return at !== undefined && Math.abs(Date.now() - at) < SETTLED_MS;
}

/** Missing folders that tokens are bounded to: one is misspelt, or gone. */
export async function absentProjects(tokens: readonly KnownToken[]): Promise<string[]> {
  const named = [...new Set(tokens.flatMap(({ bounds }) => bounds?.projects ?? []))];
  const real = await Promise.all(named.map((project) => realFolder(project)));
  return named.filter((_, index) => real[index] === undefined);
}

/** What is wrong with the file of a server, for the person who keeps it: the one that was given, or else the one that is kept. */
export async function tokenFaults(
  given: string | undefined,
  kept: string,
): Promise<{ level: 'broken' | 'notice'; about: 'tokens'; text: string }[]> {
  const file = given ?? kept;
  const broken = (text: string) => ({ level: 'broken' as const, about: 'tokens' as const, text });
  const read = await readTokens(file).catch(ours(({ message }) => broken(message)));
  if ('text' in read) return given === undefined ? [] : [read];
  const lines = read.bad.join(', ');
  return [
    ...(lines === '' ? [] : [broken(t`Lines of ${file} are not valid: ${lines}. The others count.`)]),
    ...(await absentProjects(read.tokens)).map((project) => ({
      ...broken(t`${file} names a missing project: ${project}.`),
      level: 'notice' as const,
    })),
  ];
}
