#!/usr/bin/env node
import { createRequire } from 'node:module';
import { useCompileCache } from './compile-cache.ts';

// The server is a separate file, so that the cache is on before it is compiled.
useCompileCache();
createRequire(import.meta.url)('./server.cjs');
