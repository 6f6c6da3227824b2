import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { isPlain, startPremises } from '../app/start-premises.ts';
import {
  checksum,
  keepAnswers,
  keptAnswers,
  type KeptAnswers,
  preparedAnswers,
  stamped,
} from '../base/files/user-cache.ts';
import { userCacheFolder } from '../config/locations.ts';
import { type EarlierAnswers, FirstRequests, isInitialized, TOOLS } from '../surfaces/mcp/early.ts';
import { programArguments, programFolder, protocolOutput } from './program-place.ts';

/**
 * How long a client may take to ask for its tools before the server is loaded, which then keeps it waiting. Every client asks for
 * them, and on a busy machine it is slow itself; some make nothing of lists that come late.
 */
const TOOLS_MS = 3_000;
/** The same for the lists after that, which not all ask for: until then nothing is made ready for the first call. */
const OTHERS_MS = 400;
/** Seven of each of a few hosts. */
const MOST_ANSWERS = 42;
/** What a server without settings answers in a folder without BMAD: made by the build. */
const PREPARED_FILE = join(programFolder, 'first-answers.json');
/** A first request is short. */
const MOST_BYTES = 64 * 1024;

/** The input of a server, and what was answered from it before there was a server. */
export interface EarlyStart {
  input: Readable;
  first: FirstRequests;
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
  const first = new FirstRequests(kept);
  if (kept.isNone) return load({ input: process.stdin, first });
  new EarlyAnswers(first, (input) => load({ input, first })).begin();
}

/** Reads the client's first lines and hands all of them on. Its fields are private as those of `FirstRequests` are. */
class EarlyAnswers {
  private readonly first: FirstRequests;
  private readonly load: (input: Readable) => void;
  private readonly input = new PassThrough();
  private text = '';
  private over = false;
  private waiting: NodeJS.Timeout | undefined;

  constructor(first: FirstRequests, load: (input: Readable) => void) {
    this.first = first;
    this.load = load;
  }

  begin(): void {
    process.stdin.on('data', this.onData);
    process.stdin.once('end', this.onEnd);
    this.wait();
  }

  private readonly onData = (chunk: Buffer): void => {
    this.input.write(chunk);
    if (this.over) return;
    this.text += chunk.toString('latin1');
    if (this.text.length > MOST_BYTES) return this.finish();
    let end: number;
    while (!this.over && (end = this.text.indexOf('\n')) !== -1) {
      const line = this.text.slice(0, end);
      this.text = this.text.slice(end + 1);
      if (!this.answered(line) || this.first.expected.length === 0) this.finish();
    }
    if (!this.over) this.wait();
  };

  private readonly onEnd = (): void => {
    this.input.end();
    this.finish();
  };

  /** Whether nothing has to be done about a line before the server is there. */
  private answered(line: string): boolean {
    let message: unknown;
    try {
      message = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
    } catch {
      return false;
    }
    const answer = this.first.received(message);
    if (answer !== undefined) protocolOutput().write(answer);
    return answer !== undefined || isInitialized(message);
  }

  private wait(): void {
    clearTimeout(this.waiting);
    // On a busy machine the time may be over before what has come is read: that comes first.
    const waiting = setTimeout(
      () => setImmediate(() => this.waiting === waiting && this.finish()),
      this.first.expected.includes(TOOLS) ? TOOLS_MS : OTHERS_MS,
    );
    this.waiting = waiting;
  }

  private finish(): void {
    if (this.over) return;
    this.over = true;
    clearTimeout(this.waiting);
    setImmediate(() => {
      process.stdin.off('data', this.onData);
      // It has ended, or will do so with the client.
      if (!this.input.writableEnded) {
        process.stdin.off('end', this.onEnd);
        process.stdin.pipe(this.input);
      }
      this.load(this.input);
    });
  }
}

interface Kept extends EarlierAnswers {
  /** Nothing that could be answered: then nobody waits for questions either. */
  isNone: boolean;
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
  const start = { ...surroundings, cwd, args, programs };
  const premises = startPremises(start);
  if (premises === undefined) return undefined;
  const folder = join(userCacheFolder(surroundings), 'first-answers');
  const name = `${checksum(JSON.stringify([cwd, args, programFolder]))}.json`;
  const { text, there } = stamped(premises);
  const answers = keptAnswers(folder, name, text);
  const plain = isPlain(start, premises, there);
  let prepared: KeptAnswers | undefined;
  return {
    isNone: answers === undefined && !plain,
    answerTo: ({ own, any }) =>
      answers?.[own] ?? (plain ? (prepared ??= preparedAnswers(PREPARED_FILE)) : undefined)?.[any],
    // Several hosts may start the server in one project, and each says who it is.
    keep: (more) => keepAnswers(folder, name, text, recent({ ...others(answers, more), ...more })),
  };
}

/** Without what was answered to the same before: of a list that is another one by now, no page stays. */
function others(answers: KeptAnswers = {}, more: KeptAnswers): KeptAnswers {
  const keys = Object.keys(more);
  return Object.fromEntries(
    Object.entries(answers).filter(([key]) => !keys.some((each) => key.startsWith(each))),
  );
}

/** Hosts are updated, and call themselves something else from then on. */
function recent(answers: KeptAnswers): KeptAnswers {
  return Object.fromEntries(Object.entries(answers).slice(-MOST_ANSWERS));
}
