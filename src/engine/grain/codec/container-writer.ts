// Writes .mg files as a stream. Offsets precede the grains, so the caller makes two passes, one for lengths and one for
// blobs. The writer holds four bytes a grain and needs no temporary file.
import { createHash } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import { refuse } from '../error.ts';
import type { Address } from '../grain.ts';
import type { ValueMap } from '../value.ts';
import { FIELD_MAP_VERSION, FILE_FLAG, FILE_HEAD_BYTES, FOOTER_BYTES, MAGIC } from './container.ts';
import { startsEnvelope } from './cose.ts';
import { encodeManifest, type GrainStatus, manifestEntries } from './manifest.ts';

const UINT32_MAX = 0xffffffff;
const INDEX_PIECE_GRAINS = 16_384;

export interface ContainerPlan {
  /** Size of each grain in bytes (of its envelope if signed), in the order of the `add` calls. */
  readonly lengths: Uint32Array;
  /** The caller guarantees ascending created_at, ties by address. */
  readonly sorted: boolean;
  /** The caller guarantees that no address occurs twice. */
  readonly deduplicated: boolean;
  /** Must contain every grain whose status is not the default. */
  readonly manifest?: ReadonlyMap<Address, GrainStatus> | undefined;
}

/**
 * Writes one file: call `begin`, then `add` for each grain, then `end`, and send the returned bytes in order. Grains pass
 * through unchanged. The constructor throws ERR_TOO_LARGE if an offset would exceed 32 bits.
 */
export class ContainerWriter {
  readonly #lengths: Uint32Array;
  readonly #entries: [Address, ValueMap][];
  readonly #flags: number;
  readonly #hash = createHash('sha256');
  #added = 0;
  #latestSeconds = 0;

  constructor(plan: ContainerPlan) {
    this.#lengths = plan.lengths;
    this.#entries = plan.manifest ? manifestEntries(plan.manifest) : [];
    this.#flags =
      (plan.sorted ? FILE_FLAG.sorted : 0) |
      (plan.deduplicated ? FILE_FLAG.deduplicated : 0) |
      (this.#entries.length > 0 ? FILE_FLAG.manifest : 0);
    let total = FILE_HEAD_BYTES + 4 * plan.lengths.length;
    for (const length of plan.lengths) total += length;
    if (total > UINT32_MAX) refuse('ERR_TOO_LARGE', 'a .mg file holds at most 4 GiB');
  }

  #pass<B extends Uint8Array>(bytes: B): B {
    this.#hash.update(bytes);
    return bytes;
  }

  /** Yields the head and the offsets, which count from the start of the file. */
  *begin(): Generator<Buffer> {
    const count = this.#lengths.length;
    const head = Buffer.alloc(FILE_HEAD_BYTES);
    head.set(MAGIC, 0);
    head[3] = this.#flags;
    head.writeUInt32BE(count, 4);
    head[8] = FIELD_MAP_VERSION;
    yield this.#pass(head);
    let offset = FILE_HEAD_BYTES + 4 * count;
    for (let start = 0; start < count; start += INDEX_PIECE_GRAINS) {
      const lengths = this.#lengths.subarray(start, start + INDEX_PIECE_GRAINS);
      const piece = Buffer.allocUnsafe(4 * lengths.length);
      for (let i = 0; i < lengths.length; i++) {
        piece.writeUInt32BE(offset, 4 * i);
        offset += lengths[i]!;
      }
      yield this.#pass(piece);
    }
  }

  /** Adds the next grain: its blob, or its envelope if signed. Returns its argument. */
  add<B extends Uint8Array>(grain: B): B {
    assert(grain.length === this.#lengths[this.#added], 'a grain has the length that was announced');
    if ((this.#flags & FILE_FLAG.sorted) !== 0 && !startsEnvelope(grain)) {
      const seconds = grain[5]! * 0x1000000 + (grain[6]! << 16) + (grain[7]! << 8) + grain[8]!;
      assert(seconds >= this.#latestSeconds, 'grains come in the order that was promised');
      this.#latestSeconds = seconds;
    }
    this.#added++;
    return this.#pass(grain);
  }

  /** Yields the manifest, if it has entries, and the footer. */
  *end(): Generator<Buffer> {
    assert(this.#added === this.#lengths.length, 'every announced grain was added');
    if (this.#entries.length > 0) for (const piece of encodeManifest(this.#entries)) yield this.#pass(piece);
    const footer = this.#hash.digest();
    assert(footer.length === FOOTER_BYTES, 'the footer has its size');
    yield footer;
  }
}

/** Writes a whole file in memory. */
export function writeContainer(grains: readonly Uint8Array[], plan: Omit<ContainerPlan, 'lengths'>): Buffer {
  const writer = new ContainerWriter({ ...plan, lengths: Uint32Array.from(grains, ({ length }) => length) });
  return Buffer.concat([...writer.begin(), ...grains.map((grain) => writer.add(grain)), ...writer.end()]);
}
