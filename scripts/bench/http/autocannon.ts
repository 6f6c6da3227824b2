import { join } from 'node:path';
import { createRequire } from 'node:module';
import { installedPackage } from '../npm-package.ts';
import type { Shot } from './requests.ts';

const VERSION = '8.0.0';

interface Volley {
  url: string;
  shot: Shot;
  /** A text every right answer holds. */
  expected: string;
  connections: number;
  seconds: number;
}

/** What came of it: requests a second, latency in milliseconds, and what went wrong. */
export interface Load {
  rps: number;
  p50: number;
  p99: number;
  wrong: number;
}

export type Fire = (volley: Volley) => Promise<Load>;

interface Result {
  requests: { average: number };
  latency: { p50: number; p99: number };
  errors: number;
  timeouts: number;
  non2xx: number;
  mismatches: number;
}

type Autocannon = (options: Record<string, unknown>) => Promise<Result>;

/** The load generator, which only this benchmark needs and which is therefore no dependency of the project. */
export async function loadGenerator(cache: string, say: (line: string) => void): Promise<Fire> {
  const found = await installedPackage(join(cache, 'autocannon'), 'autocannon', VERSION, say);
  if (found === undefined) throw new Error('There is no load without autocannon.');
  const autocannon = createRequire(import.meta.url)(found.home) as Autocannon;
  return async ({ url, shot, expected, connections, seconds }) => {
    const result = await autocannon({
      url,
      connections,
      duration: seconds,
      ...shot,
      verifyBody: (body: string) => body.includes(expected),
    });
    return {
      rps: result.requests.average,
      p50: result.latency.p50,
      p99: result.latency.p99,
      wrong: result.errors + result.timeouts + result.non2xx + result.mismatches,
    };
  };
}
