// Reads of files that are written once.
import { readSync } from 'node:fs';
import { isFileError } from '../../base/durable-file.ts';
import { CorruptBlock } from './section.ts';

/** Reads exactly `length` bytes. Throws CorruptBlock where the file ends before, and the file system's error. */
export function readExactly(fd: number, name: string, offset: number, length: number): Buffer {
  // No part of the pool: a block is kept, and would keep the whole slab.
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let at = 0; at < length; ) {
    const count = readSync(fd, bytes, at, length - at, offset + at);
    if (count === 0) throw new CorruptBlock(name, offset + at, 'file ends here');
    at += count;
  }
  return bytes;
}

/** The same for a block of data that can be made again: one that the disk cannot read is corrupt too. */
export function readBlock(fd: number, name: string, offset: number, length: number): Buffer {
  try {
    return readExactly(fd, name, offset, length);
  } catch (error) {
    if (error instanceof CorruptBlock || !isFileError(error)) throw error;
    throw new CorruptBlock(name, offset, error.message);
  }
}
