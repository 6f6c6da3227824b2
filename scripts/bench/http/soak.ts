import { residentMebibytes } from '../system.ts';
import { median } from '../statistics.ts';
import type { Fire } from './autocannon.ts';
import { modernShot, openSession, sessionShot } from './requests.ts';
import type { HttpServer } from './server.ts';

const ROUND_SECONDS = 5;
const CONNECTIONS = 20;
/** Clients that open a session in each round and never come back. */
const LEFT_SESSIONS = 30;

export interface Soak {
  seconds: number;
  requests: number;
  wrong: number;
  /** Resident memory in MiB after each round. */
  rss: number[];
  /** The median of the last third less that of the middle third: what a leak would make grow. */
  growthMiB: number;
}

/** Both eras in turns, and sessions that are opened and left, for as long as asked. */
export async function soak(server: HttpServer, fire: Fire, seconds: number): Promise<Soak> {
  const rss: number[] = [];
  let requests = 0;
  let wrong = 0;
  const session = await openSession(server.url);
  const call = { name: 'bmad', arguments: { operation: 'list', query: 'agents' } };
  const execute = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect' } };
  const shots = [
    modernShot('tools/call', call),
    modernShot('tools/list'),
    modernShot('tools/call', execute),
    sessionShot(session, 'tools/call', call),
  ];
  for (let round = 0; round * ROUND_SECONDS < seconds; round += 1) {
    const shot = shots[round % shots.length];
    if (shot === undefined) throw new Error('There is nothing to fire.');
    for (let left = 0; left < LEFT_SESSIONS; left += 1) await openSession(server.url);
    const load = await fire({
      url: server.url,
      shot,
      expected: '"result"',
      connections: CONNECTIONS,
      seconds: ROUND_SECONDS,
    });
    requests += Math.round(load.rps * ROUND_SECONDS);
    wrong += load.wrong;
    rss.push(residentMebibytes(server.pid) ?? Number.NaN);
  }
  const third = Math.floor(rss.length / 3);
  const growthMiB = (median(rss.slice(-third)) ?? 0) - (median(rss.slice(third, 2 * third)) ?? 0);
  return { seconds: rss.length * ROUND_SECONDS, requests, wrong, rss, growthMiB };
}
