// thread-slots.ts for a process of its own: answers its parent's question for the slots, and ends with
// its parent. Preloaded with `--import`.
import { isMainThread } from 'node:worker_threads';
import { ASK_SLOTS, readSlots } from './thread-slots.ts';

if (isMainThread && process.send !== undefined) {
  process.on('message', (message) => {
    if (message === ASK_SLOTS) process.send?.({ slots: readSlots() });
  });
  // The parent is gone and can stop nothing any more.
  process.once('disconnect', () => process.exit());
  // The question must not keep the process alive.
  process.channel?.unref();
}
