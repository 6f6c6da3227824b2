#!/usr/bin/env node
import { createRequire } from 'node:module';
import { useCompileCache } from './program-place.ts';
import { startEarly } from './first-answers.ts';
import type * as server from './server.ts';

// The server is a separate file, so that the first answers can come before it, and the cache is on before it is compiled.
const load = createRequire(import.meta.url);
startEarly((early) => {
  useCompileCache();
  (load('./server.cjs') as typeof server).startServer(early);
});
