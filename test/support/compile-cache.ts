// Loaded before the tests (`--import` in package.json): what was compiled is kept between runs, since most tests start
// faster than their modules compile. By the variable, which worker threads and started processes heed too.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../../node_modules/.cache/granary', import.meta.url));
enableCompileCache(process.env['NODE_COMPILE_CACHE']);
