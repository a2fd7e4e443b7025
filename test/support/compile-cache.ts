// Loaded before the tests (`--import` in package.json). Most tests run for a shorter time than Node takes to load their
// modules, in each process and each thread that they start. Two settings shorten that. Both are variables of the
// environment, because threads and started processes read them too.

import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Compiled code is kept between runs.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/granary', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

// No module here is reached through a link, so Node need not look for links in every part of every path.
const WITHOUT_LINKS = '--preserve-symlinks';
const options = process.env['NODE_OPTIONS'] ?? '';
if (!options.includes(WITHOUT_LINKS)) process.env['NODE_OPTIONS'] = `${options} ${WITHOUT_LINKS}`.trim();
