#!/usr/bin/env node
// The command line's entry. Compiling takes longer than most commands do, so what was compiled is kept, beside the
// packages rather than in the machine's temporary folder, where others could put code of theirs. A folder that cannot
// be written is no error: then there is no cache.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// By the variable, which threads and processes that this one starts heed too.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/granary', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);
// After it: what is loaded before is not kept.
const { runProgram } = await import('./program.ts');

process.exitCode = await runProgram(process.argv.slice(2));
