import { t } from '../base/text/message.ts';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Outside } from '../app/app.ts';
import { BmadError, systemCode } from '../base/errors.ts';
import { withLock } from '../base/files/file-lock.ts';
import { makePrivate, openToOthers } from '../base/files/file-modes.ts';
import { changeMark } from '../base/files/file-stamps.ts';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import { SHORTEST_TOKEN } from '../config/http-settings.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Context } from '../operations/context.ts';
import type { KnownToken } from '../surfaces/http/gate.ts';

/** The file with the token that is kept for a user, in the user's state folder. */
const KEPT_FILE = 'http-token';
const TOKEN_BYTES = 32;
const LOCK_WAIT_MS = 5_000;
/** How often it is looked whether a file with tokens has changed, at most. */
const LOOK_MS = 1_000;

export interface Tokens {
  /** Those that are valid now: the same list until they change. Waits until they are settled. */
  current(): Promise<readonly KnownToken[]>;
  /**
   * Called once the server listens, so that a failed start changes nothing. Returns what to tell the person who starts
   * it; a new token is included this one time.
   */
  settle(): Promise<string>;
}

/** The tokens that were given, else the one that is kept for this user, else a new one, which is kept. */
export async function serverTokens(context: Context, outside: Outside, anew: boolean): Promise<Tokens> {
  const { config } = context;
  const own = config.httpToken === undefined ? [] : [{ token: config.httpToken, mayWrite: true }];
  if (config.httpTokenFile !== undefined || own.length > 0) {
    const given = config.httpTokenFile === undefined ? undefined : resolve(outside.cwd, config.httpTokenFile);
    if (given !== undefined) await guardGivenFile(given, context);
    const current = given === undefined ? async () => own : await followedFile(given, own, context);
    return { current, settle: async () => t`Clients must send one of the configured tokens.` };
  }
  const file = join(userStateFolder(outside), KEPT_FILE);
  await guardKeptFile(file, context);
  let open: (current: Tokens['current']) => void;
  const settled = new Promise<Tokens['current']>((resolved) => (open = resolved));
  return {
    current: async () => (await settled)(),
    async settle() {
      const note = await settleKept(file, anew);
      open(await followedFile(file, [], context));
      return note;
    },
  };
}

/** Two servers that start at once must not make two tokens, of which one would be lost. */
function settleKept(file: string, anew: boolean): Promise<string> {
  return withLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
    const kept = anew ? [] : parse((await readState(file, { follow: true })) ?? '', file);
    if (kept.length > 0) return t`Clients must send the token in ${file}.`;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await writeAtomic(file, `${token}\n`, { mode: 0o600 });
    return t`Clients must send this token. It is shown only once and stored in ${file}:\n\n  ${token}\n`;
  });
}

/** The tokens in a file and those beside it. A token that is taken out is not valid any more, without a new start. */
async function followedFile(
  file: string,
  beside: readonly KnownToken[],
  { secrets, log }: Context,
): Promise<Tokens['current']> {
  let mark = changeMark(file);
  let looked = performance.now();
  async function read(): Promise<readonly KnownToken[]> {
    const found = await fromFile(file);
    for (const { token } of found) secrets.add(token);
    return [...beside, ...found];
  }
  let known = await read();
  return async () => {
    if (performance.now() - looked < LOOK_MS) return known;
    looked = performance.now();
    const now = changeMark(file);
    if (now === mark) return known;
    mark = now;
    try {
      known = await read();
      log.info('reloaded the tokens', { file, count: known.length });
    } catch (error) {
      // The file may be in the middle of being edited.
      log.warn('cannot reload the tokens; the previous ones stay valid', {
        error: BmadError.from(error, () => undefined).text,
      });
    }
    return known;
  };
}

async function fromFile(file: string): Promise<KnownToken[]> {
  // Secrets are mounted into containers as links.
  const text = await readState(file, { follow: true });
  if (text === undefined)
    throw new BmadError('invalid_input', t`There is no file ${file}.`, {
      hint: t`Set http_token_file, or --http-token-file, to a file with tokens.`,
    });
  const tokens = parse(text, file);
  if (tokens.length > 0) return tokens;
  throw new BmadError('invalid_input', t`${file} has no tokens.`, {
    hint: t`Write one token per line, of at least ${SHORTEST_TOKEN} characters. Add "read" after a token to make it read-only, or "a2a" to limit it to Agent2Agent.`,
  });
}

function parse(text: string, file: string): KnownToken[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    const [, token = '', right] = /^([\w.~+/=-]+)(?:\s+(read|write|a2a))?$/.exec(line) ?? [];
    if (token.length < SHORTEST_TOKEN)
      throw new BmadError('invalid_input', t`Line ${index + 1} of ${file} is not a valid token.`, {
        hint: t`Use at least ${SHORTEST_TOKEN} letters, digits and - . _ ~ + / =, followed by "read", "a2a" or nothing.`,
      });
    return [{ token, mayWrite: right !== 'read', ...(right === 'a2a' ? { only: right } : {}) }];
  });
}

/** Anyone who can read a token file can call the server. The user's own file is not changed, only warned about. */
async function guardGivenFile(file: string, { log }: Context): Promise<void> {
  if ((await openToOthers([file])).length > 0)
    log.warn('other users of this machine can read the token file; run chmod 600 on it', { file });
}

/** Ours becomes private; a start does not fail because it cannot. */
async function guardKeptFile(file: string, { log }: Context): Promise<void> {
  if ((await openToOthers([file])).length === 0) return;
  try {
    await makePrivate(file);
    log.warn(
      'other users of this machine could read the token; the file is now private, and --new-token creates a new token',
      { file },
    );
  } catch (error) {
    log.warn(
      'other users of this machine can read the token, and the file cannot be made private; its owner should run chmod 600',
      { file, code: systemCode(error) },
    );
  }
}
