import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Call, Context } from '../../operations/context.ts';

type Lasts = NonNullable<Call['lasts']>;
type Lasting = Parameters<Lasts>;

interface Asked {
  key: string;
  /** What its operation has said of how long the answer holds. */
  lasting?: Lasting;
}

interface Kept {
  result: Record<string, unknown>;
  lasting: Lasting;
}

const MOST_KEPT = 32;
const LONGEST_KEY = 1_000;
const MOST_ARGUMENTS = 20;

/**
 * Answers to calls that one client of the 2025 protocol makes again, in the same words. An answer is given once more as
 * long as its operation says that it would be the same; the call then goes no further than here. Requests of the 2026
 * protocol stand each for itself.
 */
export class Repeats {
  readonly #context: Context;
  readonly #kept = new Map<string, Kept>();
  readonly #asked = new Map<unknown, Asked>();
  readonly #looking = new Set<unknown>();
  #isLegacy = false;

  constructor(context: Context) {
    this.#context = context;
    // What was read before is out of date, and would be kept from being forgotten.
    context.onChange(() => this.#kept.clear());
  }

  /** Answers a message, or delivers it. */
  receive(message: JSONRPCMessage, deliver: () => void, send: (answer: JSONRPCMessage) => void): void {
    if (!('method' in message)) return deliver();
    if (message.method === 'initialize') this.#isLegacy = this.#mayAnswer();
    if (message.method === 'notifications/cancelled') {
      // Nobody waits for its answer any more; one that has been delivered is the server's to cancel.
      this.#looking.delete(message.params?.['requestId']);
      this.#asked.delete(message.params?.['requestId']);
    }
    const key = this.#isLegacy && 'id' in message ? keyOf(message) : undefined;
    if (key === undefined || !('id' in message)) return deliver();
    const { id } = message;
    const known = this.#kept.get(key);
    if (known === undefined) {
      this.#asked.set(id, { key });
      return deliver();
    }
    void this.#answerOr(
      known,
      id,
      () => send({ jsonrpc: '2.0', id, result: known.result }),
      () => {
        this.#kept.delete(key);
        this.#asked.set(id, { key });
        deliver();
      },
    );
  }

  async #answerOr({ lasting }: Kept, id: unknown, answer: () => void, deliver: () => void): Promise<void> {
    this.#looking.add(id);
    const [holds, again] = lasting;
    const isSame = await holds(this.#context).catch(() => false);
    if (!this.#looking.delete(id)) return;
    if (!isSame) return deliver();
    again?.();
    answer();
  }

  /** For the operation that answers a request: how it says that its answer holds for some time. */
  lastsFor(id: unknown): Lasts | undefined {
    const asked = this.#asked.get(id);
    return asked === undefined ? undefined : (...lasting) => void (asked.lasting = lasting);
  }

  /** What the server answers. */
  sent(message: JSONRPCMessage): void {
    if ('method' in message || !('id' in message)) return;
    const asked = this.#asked.get(message.id);
    if (asked === undefined) return;
    this.#asked.delete(message.id);
    const { key, lasting } = asked;
    if (lasting === undefined || !('result' in message) || message.result['isError'] === true) return;
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, { result: message.result, lasting });
  }

  /** Where somebody counts or follows calls, each has to come by. */
  #mayAnswer(): boolean {
    return this.#context.observe === undefined && this.#context.tracing === undefined;
  }
}

/** The words of a call; nothing for what is no call of a tool, or one that is long or has more than plain values. */
function keyOf({
  method,
  params,
}: {
  method: string;
  params?: Record<string, unknown> | undefined;
}): string | undefined {
  const { name, arguments: args } = params ?? {};
  if (method !== 'tools/call' || typeof args !== 'object' || args === null) return undefined;
  const values = [name, ...Object.values(args).slice(0, MOST_ARGUMENTS)];
  if (Object.keys(args).length > MOST_ARGUMENTS || values.some((value) => typeof value === 'object'))
    return undefined;
  const key = JSON.stringify([name, args]);
  return key.length <= LONGEST_KEY ? key : undefined;
}
