import type { Scale } from './scale.ts';
import { ambiguousSaved, percentSaved, type Journeys } from './journeys.ts';
import type { OperationName } from './contenders.ts';
import type { Starts, WarmServers } from './measure.ts';
import { tokens } from './statistics.ts';

export interface Results {
  starts: Starts;
  warm: WarmServers;
  context: Journeys;
  scale: Scale[];
}

export interface Budget {
  title: string;
  limit: number;
  /** Nothing if it could not be measured: no peer, or a system that does not tell. */
  measured: number | undefined;
  unit: string;
  verdict: 'pass' | 'fail' | 'not measured';
}

const TOOLS_LIST_TOKENS = 2_500;
const START_AGAINST_PEER = 0.6;
const START_AGAINST_BARE = 1.3;
const RSS_BELOW_PEER_MIB = 5;
const CONTEXT_SAVED_PERCENT = 80;
const AMBIGUOUS_SAVED_PERCENT = 52.3;
const CALLS_TO_BEGIN = 1;
const GROWTH = 13;
const BESIDES = 3;

/** What we hold ourselves to. Times count only as ratios within one run: machines differ. */
export function budgetsOf({ starts, warm, context, scale }: Results): Budget[] {
  const { ours, peer, bare } = starts;
  return [
    atMost('tools/list', TOOLS_LIST_TOKENS, 'tokens', ours && tokens(ours.toolsListBytes)),
    atMost('spawn → tools/list', START_AGAINST_PEER, '× peer', ratio(ours?.wallMs, peer?.wallMs)),
    atMost('spawn → tools/list', START_AGAINST_BARE, '× bare', ratio(ours?.wallMs, bare?.wallMs)),
    atMost(
      'RSS after tools/list, less the peer’s',
      -RSS_BELOW_PEER_MIB,
      'MiB',
      difference(ours?.rssMiB, peer?.rssMiB),
    ),
    atMost(
      'warm p50, list agents',
      1,
      '× peer',
      ratio(p50(warm.ours, 'list agents'), p50(warm.peer, 'list agents')),
    ),
    atMost(
      'warm p50, read an agent',
      1,
      '× peer',
      ratio(p50(warm.ours, 'read an agent'), p50(warm.peer, 'read an agent')),
    ),
    // Our execute delivers the agent. The peer's only names it: a further call has to read it.
    atMost(
      'warm p50, activate an agent (peer: execute and read)',
      1,
      '× peer',
      ratio(
        p50(warm.ours, 'execute an agent'),
        sum(p50(warm.peer, 'execute an agent'), p50(warm.peer, 'read an agent')),
      ),
    ),
    atMost(
      'tools/list at 5,000 workflows against 50',
      1,
      '×',
      ratio(scale.at(-1)?.toolsListTokens, scale[0]?.toolsListTokens),
    ),
    // Ten times the workflows may cost ten times the time, and a little for what is not linear.
    atMost('scan of 5,000 workflows against 500', GROWTH, '×', ratio(scale.at(-1)?.scanMs, scale[1]?.scanMs)),
    atMost('first search of 5,000 against 500', GROWTH, '×', ratio(scale.at(-1)?.indexMs, scale[1]?.indexMs)),
    atMost(
      'later search of 5,000 against 500',
      GROWTH,
      '×',
      ratio(scale.at(-1)?.searchMs, scale[1]?.searchMs),
    ),
    atMost('doctor for 5,000 against 500', GROWTH, '×', ratio(scale.at(-1)?.doctorMs, scale[1]?.doctorMs)),
    atMost('execute beside 20 searches, at 5,000', BESIDES, '× alone', scale.at(-1)?.besides),
    ...context.journeys.map((journey) =>
      atLeast(`context saved, ${journey.title}`, CONTEXT_SAVED_PERCENT, '%', percentSaved(journey, context)),
    ),
    ...context.journeys.flatMap(({ title, calls, bytes, peer: theirs }) =>
      theirs === undefined
        ? []
        : [
            atMost(`calls to ${title}`, CALLS_TO_BEGIN, 'calls', calls),
            atMost(`tokens to ${title}`, 1, '× peer', ratio(tokens(bytes), theirs.tokens)),
          ],
    ),
    atLeast('saved by an ambiguous answer', AMBIGUOUS_SAVED_PERCENT, '%', ambiguousSaved(context)),
  ];
}

function p50(server: WarmServers['ours'], operation: OperationName): number | undefined {
  return server?.operations[operation].p50Ms;
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one + other;
}

export function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function difference(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one - other;
}

function atMost(title: string, limit: number, unit: string, measured: number | undefined): Budget {
  const verdict = measured === undefined ? 'not measured' : measured <= limit ? 'pass' : 'fail';
  return { title: `${title}, at most`, limit, unit, measured, verdict };
}

function atLeast(title: string, limit: number, unit: string, measured: number): Budget {
  return { title: `${title}, at least`, limit, unit, measured, verdict: measured >= limit ? 'pass' : 'fail' };
}
