#!/usr/bin/env node
// Entry point of the command line. Compiling takes longer than most commands run, so compiled code is cached. The cache
// lies next to the packages: in the machine's temporary folder other users could plant code. Without write access there
// is no cache.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// An environment variable, so that worker threads and child processes use the cache too.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/granary', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);
// Imported after the cache is on: modules loaded before it are not cached.
const { runProgram } = await import('./program.ts');

process.exitCode = await runProgram(process.argv.slice(2));
