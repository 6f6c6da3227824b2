#!/usr/bin/env node
import { createRequire } from 'node:module';
import { useCompileCache } from './compile-cache.ts';

useCompileCache();
createRequire(import.meta.url)('./cli.cjs');
