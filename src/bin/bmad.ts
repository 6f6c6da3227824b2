#!/usr/bin/env node
import { createRequire } from 'node:module';
import { useCompileCache } from './compile-cache.ts';
import type * as shared from './shared.ts';

useCompileCache();
void (createRequire(import.meta.url)('./shared.cjs') as typeof shared).startCommandLine();
