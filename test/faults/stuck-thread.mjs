// Loaded in every thread of a server: the first thread of a shard that sees the file TEST_STUCK opens it for reading. A named pipe that
// nobody writes to keeps it in the system's `open` for ever, where no JavaScript can be ended.
import { existsSync, openSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const pipe = process.env['TEST_STUCK'];
if (!isMainThread && pipe !== undefined)
  setInterval(() => {
    if (existsSync(pipe)) openSync(pipe, 'r');
  }, 20).unref();
