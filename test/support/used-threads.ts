// Threads of shards that serve one server of a test after another: most tests run for a shorter time than a thread takes
// to load the engine. A thread that did not close its engines as asked ends, as it does in the product.
import type { Piscina } from 'piscina';
import { newThread, type Threads } from '../../src/shards/transport/pool.ts';
import { threadFile } from './program.ts';

const IDLE_MAX = 4;

const fileOf = new WeakMap<Piscina, string>();
const idle: Piscina[] = [];

export const USED_THREADS: Threads = {
  take: (filename) => {
    const at = idle.findIndex((thread) => fileOf.get(thread) === filename);
    const thread = idle.splice(at, at === -1 ? 0 : 1)[0] ?? newThread(threadFile(filename));
    fileOf.set(thread, filename);
    return thread;
  },
  give: async (thread, isReusable) => {
    if (isReusable && idle.length < IDLE_MAX) idle.push(thread);
    else await thread.destroy();
  },
};
