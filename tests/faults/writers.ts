import { LOG_WRITERS } from './log-writers.ts';
import { MEMORY_WRITERS } from './memory-writers.ts';
import type { Writer } from './scene.ts';
import { STATE_WRITERS } from './state-writers.ts';

/** Every kind of write that is tried on a disk that fails. */
export const WRITERS: readonly Writer[] = [...MEMORY_WRITERS, ...STATE_WRITERS, ...LOG_WRITERS];
