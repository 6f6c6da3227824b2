import { callerKey, type Caller } from '../../../base/http/http-route.ts';

/** What decides which session makes room for another. */
export interface Held {
  owner: Caller;
  /** Exchanges that have not ended. */
  open: number;
  used: number;
}

/**
 * The session to close so that a caller can have a new one when all places are taken. It is one of the caller that has
 * the most: the new caller itself, if no one has more. So a flood from one caller never closes another's sessions. The
 * session that was silent longest goes first. If all of theirs are listening, an idle one of the new caller's goes; a
 * listening one goes only for a caller who has clearly fewer and nothing idle.
 */
export function makesRoom<S extends Held>(sessions: readonly S[], caller: Caller): S | undefined {
  const held = new Map<string | undefined, number>();
  for (const { owner } of sessions) held.set(callerKey(owner), (held.get(callerKey(owner)) ?? 0) + 1);
  const own = held.get(callerKey(caller)) ?? 0;
  const most = Math.max(...held.values());
  const bySilence = sessions.toSorted((a, b) => a.used - b.used);
  const ofMost = most > own ? bySilence.filter(({ owner }) => held.get(callerKey(owner)) === most) : [];
  const ofCaller = bySilence.filter(({ owner }) => callerKey(owner) === callerKey(caller));
  return [...ofMost, ...ofCaller].find(({ open }) => open === 0) ?? (most > own + 1 ? ofMost[0] : undefined);
}
