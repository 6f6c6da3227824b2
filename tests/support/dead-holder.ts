import { hostname } from 'node:os';

/** What the lock of a process says that is no more, for the next one to find. */
export const DEAD_HOLDER = JSON.stringify({ pid: 2 ** 30, host: hostname(), token: 'gone' });
