import type { Writable } from 'node:stream';
import { RequestAborted } from './listener.ts';

/** Resolves when a full stream can take more; rejects with RequestAborted when it closes first. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const drain = (): void => {
      stream.off('close', close);
      resolve();
    };
    const close = (): void => {
      stream.off('drain', drain);
      reject(new RequestAborted());
    };
    stream.once('drain', drain);
    stream.once('close', close);
  });
}
