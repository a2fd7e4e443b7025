// Names of grains (grain-name.ts) one after the other, as recall records list them. A record of a recall names a hundred
// grains, so they stay bytes on the way from the shard's index to the log.
import { assert } from '../base/assert.ts';
import { isPlainHash, NAME_BYTES_MAX, NO_NAME, nameBytesAt } from './grain-name.ts';

const HASH_BYTES = 32;

/** A list of names; in a record of an older build, of plain hashes. */
export class NameRun {
  readonly bytes: Buffer;
  readonly #isHashes: boolean;

  /** The run owns `bytes`, which are whole names. */
  constructor(bytes: Uint8Array, isHashes = false) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#isHashes = isHashes;
  }

  /** Of names, or of plain hashes, in hex. */
  static of(names: readonly string[]): NameRun {
    const writer = new NameRunWriter(names.length);
    for (const name of names) writer.text(name);
    return new NameRun(writer.bytes, names[0] !== undefined && isPlainHash(names[0]));
  }

  /** True if its members are plain hashes. */
  get isHashes(): boolean {
    return this.#isHashes;
  }

  get count(): number {
    let count = 0;
    for (let at = 0; at < this.bytes.length; at = this.endOf(at)) count += 1;
    return count;
  }

  /** The end of the name that begins at `at`. */
  endOf(at: number): number {
    const length = this.#isHashes ? HASH_BYTES : nameBytesAt(this.bytes, at);
    assert(length !== undefined && at + length <= this.bytes.length, 'a run is of whole names');
    return at + length;
  }

  /** In hex. */
  texts(): string[] {
    const texts: string[] = [];
    for (let at = 0; at < this.bytes.length; ) {
      const end = this.endOf(at);
      texts.push(this.bytes.toString('hex', at, end));
      at = end;
    }
    return texts;
  }
}

interface NameHints {
  /** Writes the bytes of a name to `into` at `at`. Returns their end, which is `at` when there is no name. */
  writeNameHint(ordinal: number, into: Buffer, at: number): number;
}

/** Collects names into the bytes of a run. */
export class NameRunWriter {
  readonly #bytes: Buffer;
  #end = 0;

  /** `count`: the most names that will be written. */
  constructor(count: number) {
    this.#bytes = Buffer.allocUnsafe(count * NAME_BYTES_MAX);
  }

  /** The bytes of the names so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#end);
  }

  /** A name in hex. */
  text(name: string): void {
    this.#end += this.#bytes.write(name, this.#end, 'hex');
  }

  /** The name of the grain at `ordinal`; NO_NAME when it has none. */
  hint(names: NameHints, ordinal: number): void {
    const end = names.writeNameHint(ordinal, this.#bytes, this.#end);
    if (end === this.#end) this.text(NO_NAME);
    else this.#end = end;
  }
}
