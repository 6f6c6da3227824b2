import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Outside } from '../app.ts';
import { BmadError } from '../base/errors.ts';
import { withLock } from '../base/file-lock.ts';
import { readState, writeAtomic } from '../base/file-state.ts';
import { SHORTEST_TOKEN } from '../config/http-settings.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Config } from '../config/schema.ts';
import type { KnownToken } from '../surfaces/http/gate.ts';
import { KEPT_FILE } from './token-files.ts';

const TOKEN_BYTES = 32;
const LOCK_WAIT_MS = 5_000;

export interface Tokens {
  known: readonly KnownToken[];
  /** What to tell whoever starts the server; a new token is in it, this once. */
  note: string;
}

/** The tokens that were given, else the one that is kept for this user, else a new one, which is kept. */
export async function serverTokens(config: Config, outside: Outside, anew: boolean): Promise<Tokens> {
  const given: KnownToken[] = [
    ...(config.httpToken === undefined ? [] : [{ token: config.httpToken, mayWrite: true }]),
    ...(config.httpTokenFile === undefined ? [] : await fromFile(resolve(outside.cwd, config.httpTokenFile))),
  ];
  if (given.length > 0) return { known: given, note: 'Clients have to send a token that was given.' };
  const file = join(userStateFolder(outside), KEPT_FILE);
  // Two servers that start at once must not make two tokens, of which one would be lost.
  return withLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
    const kept = anew ? [] : parse((await readState(file)) ?? '', file);
    if (kept.length > 0) return { known: kept, note: `Clients have to send the token in ${file}.` };
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await writeAtomic(file, `${token}\n`);
    const note = `Clients have to send this token, which is shown once and kept in ${file}:\n\n  ${token}\n`;
    return { known: [{ token, mayWrite: true }], note };
  });
}

async function fromFile(file: string): Promise<KnownToken[]> {
  const text = await readState(file);
  if (text === undefined)
    throw new BmadError('invalid_input', `There is no file ${file}.`, {
      hint: 'http_token_file, or --http-token-file, names a file with tokens.',
    });
  const tokens = parse(text, file);
  if (tokens.length > 0) return tokens;
  throw new BmadError('invalid_input', `There is no token in ${file}.`, {
    hint: `Write one a line, of at least ${SHORTEST_TOKEN} characters; "read" after it lets it only read.`,
  });
}

function parse(text: string, file: string): KnownToken[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    const [, token = '', right] = /^([\w.~+/=-]+)(?:\s+(read|write))?$/.exec(line) ?? [];
    if (token.length < SHORTEST_TOKEN)
      throw new BmadError('invalid_input', `Line ${index + 1} of ${file} is no token.`, {
        hint: `At least ${SHORTEST_TOKEN} letters, digits and - . _ ~ + / =, then "read" or nothing.`,
      });
    return [{ token, mayWrite: right !== 'read' }];
  });
}
