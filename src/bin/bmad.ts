#!/usr/bin/env node
import { createRequire } from 'node:module';
import { useCompileCache } from './compile-cache.ts';
import { programArguments, SERVE } from './outside.ts';
import type * as shared from './shared.ts';

useCompileCache();
const load = createRequire(import.meta.url);
if (programArguments()[0] === SERVE) load('./server.cjs');
else void (load('./shared.cjs') as typeof shared).startCommandLine();
