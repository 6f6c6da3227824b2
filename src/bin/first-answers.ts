import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { startPremises } from '../app/start-premises.ts';
import {
  checksum,
  forgetAnswers,
  keepAnswers,
  keptAnswers,
  type KeptAnswers,
  premisesText,
} from '../base/files/user-cache.ts';
import { userCacheFolder } from '../config/locations.ts';
import { type FirstAnswers, PROMPTS, requestKeys } from '../surfaces/mcp/early.ts';
import { programArguments, programFolder, protocolOutput } from './program-place.ts';

/** What a client that is about to ask for the tools needs to do so; after that the server is loaded anyway. */
const NEXT_REQUEST_MS = 25;
/** The same for a list that this client has asked for before, and that some make nothing of if it comes late. */
const EXPECTED_MS = 150;
/** Three of each of a few hosts. */
const MOST_ANSWERS = 18;
/** A first request is short. */
const MOST_BYTES = 64 * 1024;

/** The input of a server, and what was answered from it before there was a server. */
export interface EarlyStart {
  input: Readable;
  first: FirstAnswers;
}

/**
 * Answers what every host asks first with what was answered to the same questions before, as long as nothing has
 * changed that the answers were made from, and begins to load the server when that is done. Hosts start all their servers
 * at once and wait for the slowest list of tools.
 */
export function startEarly(load: (early: EarlyStart | undefined) => void): void {
  const kept = openKept();
  // A person at a terminal, or flags for something other than serving.
  if (kept === undefined || process.stdin.isTTY) return load(undefined);
  const given = new Map<unknown, string>();
  const first = { given, kept: kept.answers ?? {}, keep: kept.keep, forget: kept.forget };
  if (kept.answers === undefined) return load({ input: process.stdin, first });
  new EarlyAnswers(kept.answers, given, (input) => load({ input, first })).begin();
}

/** Reads the client's first lines and hands all of them on. */
class EarlyAnswers {
  readonly #answers: KeptAnswers;
  readonly #given: Map<unknown, string>;
  readonly #load: (input: Readable) => void;
  readonly #input = new PassThrough();
  readonly #keyOf = requestKeys();
  #text = '';
  #over = false;
  /** What this client asks for before the server is needed, and has not asked for yet. */
  readonly #expected = new Set(['tools/list']);
  #waiting: NodeJS.Timeout | undefined;

  constructor(answers: KeptAnswers, given: Map<unknown, string>, load: (input: Readable) => void) {
    this.#answers = answers;
    this.#given = given;
    this.#load = load;
  }

  begin(): void {
    process.stdin.on('data', this.#onData);
    process.stdin.once('end', this.#onEnd);
    this.#wait();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#input.write(chunk);
    if (this.#over) return;
    this.#text += chunk.toString('latin1');
    if (this.#text.length > MOST_BYTES) return this.#finish();
    let end: number;
    while (!this.#over && (end = this.#text.indexOf('\n')) !== -1) {
      const line = this.#text.slice(0, end);
      this.#text = this.#text.slice(end + 1);
      if (!this.#answered(line)) this.#finish();
    }
    if (!this.#over) this.#wait();
  };

  readonly #onEnd = (): void => {
    this.#input.end();
    this.#finish();
  };

  /** Whether nothing more has to be done about a line before the server is there. */
  #answered(line: string): boolean {
    let message: { id?: unknown; method?: unknown; params?: unknown };
    try {
      message = JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as typeof message;
    } catch {
      return false;
    }
    const { id, method, params } = message ?? {};
    if (typeof method !== 'string') return false;
    if (id === undefined) return method === 'notifications/initialized';
    const key = this.#keyOf(method, params);
    // Nothing but the client's name is behind it.
    if (method === 'initialize' && this.#keyOf(PROMPTS, {}) in this.#answers) this.#expected.add(PROMPTS);
    const result = this.#answers[key];
    if (result === undefined || (typeof id !== 'string' && typeof id !== 'number')) return false;
    this.#given.set(id, result);
    protocolOutput().write(`{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}\n`);
    this.#expected.delete(method);
    return this.#expected.size > 0;
  }

  #wait(): void {
    clearTimeout(this.#waiting);
    // On a busy machine the time may be over before what has come is read: that comes first.
    const waiting = setTimeout(
      () => setImmediate(() => this.#waiting === waiting && this.#finish()),
      this.#expected.has(PROMPTS) ? EXPECTED_MS : NEXT_REQUEST_MS,
    );
    this.#waiting = waiting;
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#waiting);
    setImmediate(() => {
      process.stdin.off('data', this.#onData);
      // It has ended, or will do so with the client.
      if (!this.#input.writableEnded) {
        process.stdin.off('end', this.#onEnd);
        process.stdin.pipe(this.#input);
      }
      this.#load(this.#input);
    });
  }
}

interface Kept {
  answers: KeptAnswers | undefined;
  keep: FirstAnswers['keep'];
  forget: FirstAnswers['forget'];
}

/** Flags that make it another program. */
const OTHER_USES = /^(?:--?(?:help|version|test|summary|http|port|new-token)\b|serve$)/;

function openKept(): Kept | undefined {
  const args = programArguments();
  if (args.some((arg) => OTHER_USES.test(arg))) return undefined;
  let [cwd, home] = ['', ''];
  try {
    [cwd, home] = [process.cwd(), homedir()];
  } catch {
    return undefined;
  }
  if (!isAbsolute(home)) return undefined;
  const surroundings = { env: process.env, home, platform: process.platform };
  const programs = ['bmad-mcp-server.cjs', 'server.cjs'].map((name) => join(programFolder, name));
  const premises = startPremises({ ...surroundings, cwd, args, programs });
  if (premises === undefined) return undefined;
  const folder = join(userCacheFolder(surroundings), 'first-answers');
  const name = `${checksum(JSON.stringify([cwd, args, programFolder]))}.json`;
  const text = premisesText(premises);
  const answers = keptAnswers(folder, name, text);
  return {
    answers,
    // Several hosts may start the server in one project, and each says who it is.
    keep: (more) => keepAnswers(folder, name, text, recent({ ...answers, ...more })),
    forget: () => forgetAnswers(folder, name),
  };
}

/** Hosts are updated, and call themselves something else from then on. */
function recent(answers: KeptAnswers): KeptAnswers {
  return Object.fromEntries(Object.entries(answers).slice(-MOST_ANSWERS));
}
