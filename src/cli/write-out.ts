import type { Writable } from 'node:stream';

/** Writes a piece and waits while the stream is full. Resolves to false when the reader closed it. */
export async function writeOut(stream: Writable, piece: string | Uint8Array): Promise<boolean> {
  if (stream.destroyed) return false;
  if (stream.write(piece)) return true;
  return new Promise((resolve) => {
    // Remove both listeners: a long output waits many times.
    const settle = (isOpen: boolean): void => {
      stream.off('drain', drained);
      stream.off('close', closed);
      resolve(isOpen);
    };
    const drained = (): void => settle(true);
    const closed = (): void => settle(false);
    stream.on('drain', drained);
    stream.on('close', closed);
  });
}
