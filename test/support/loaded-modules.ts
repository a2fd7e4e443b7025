// Loaded before a program (`--import`), in every thread: writes each loaded module, CommonJS too, as a line of the file
// `THREAD.txt` in the folder that LOADED_MODULES names.
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';

const file = join(process.env['LOADED_MODULES']!, `${threadId}.txt`);

registerHooks({
  load(url, context, next) {
    // Written at once, because a thread may end without notice.
    if (!url.startsWith('node:')) appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
