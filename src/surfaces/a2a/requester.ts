import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { callerKey, type Caller } from '../../base/http/http-route.ts';
import type { Requester } from '../../operations/context.ts';

const MOST_KEPT = 1_000;
const marks = new Map<string, Promise<string>>();

/**
 * Who a caller is in the queue, the same for every server and after a restart. Those with a token for Agent2Agent alone see
 * only what is theirs. The mark is kept in the files of a project, which others may read: it takes long to make, so that
 * nobody can try out tokens against it.
 */
export async function requesterOf(caller: Caller): Promise<Requester | undefined> {
  const key = callerKey(caller);
  return key === undefined ? undefined : { mark: await markOf(key), alone: caller.only !== undefined };
}

function markOf(key: string): Promise<string> {
  const known = marks.get(key);
  if (known !== undefined) return known;
  const [oldest] = marks.keys();
  if (marks.size >= MOST_KEPT && oldest !== undefined) marks.delete(oldest);
  const made = slowHash(key).catch((error: unknown) => {
    marks.delete(key);
    throw error;
  });
  marks.set(key, made);
  return made;
}

async function slowHash(key: string): Promise<string> {
  const bytes = (await promisify(scrypt)(key, 'bmad a2a requester', 12)) as Buffer;
  return bytes.toString('hex');
}
