#!/usr/bin/env node
import { createRequire } from 'node:module';
import { PAGE, programArguments, SERVE, useCompileCache } from './program-place.ts';
import type * as server from './server.ts';
import type * as shared from './shared.ts';

useCompileCache();
const load = createRequire(import.meta.url);
if (programArguments()[0] === SERVE) (load('./server.cjs') as typeof server).startServer();
else if (programArguments()[0] === PAGE) load('./http.cjs');
else void (load('./shared.cjs') as typeof shared).startCommandLine();
