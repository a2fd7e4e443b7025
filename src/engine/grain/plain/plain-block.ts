// Requests of one plain grain each share bytes, columns and short texts. Columns of their own would cost each request as
// much as the one pass saves.
import { PlainGrains } from './plain-grains.ts';
import type { PlainItem } from './plain-item.ts';

/** Adds the grain of the request from `from` to `end - 1` to `grains`; undefined, and nothing added, if it is not plain. */
export type ReadPlain = (bytes: Buffer, from: number, end: number, grains: PlainGrains) => PlainItem | undefined;

const BLOCK_GRAINS = 64;
const BLOCK_BYTES = 32_768;
/** A longer request takes the general path, so that blocks are used well. */
const REQUEST_BYTES_MAX = BLOCK_BYTES / 4;

class Block {
  readonly bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  readonly grains = new PlainGrains(this.bytes, BLOCK_GRAINS);
  used = 0;
}

/** The block of the next request. Items keep theirs until they are written. */
let block: Block | undefined;

/** The grain of a request, which is copied, as `read` finds it; undefined when it is not plain. */
export function readAlone(request: Uint8Array, read: ReadPlain): PlainItem | undefined {
  const { length } = request;
  if (length > REQUEST_BYTES_MAX) return undefined;
  if (block === undefined || block.grains.count === BLOCK_GRAINS || block.used + length > BLOCK_BYTES)
    block = new Block();
  const { bytes, grains, used } = block;
  bytes.set(request, used);
  const item = read(bytes, used, used + length, grains);
  if (item !== undefined) block.used = used + length;
  return item;
}
