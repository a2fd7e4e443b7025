// Reads and writes the octets of a block, with the integers of RFC 7541, section 5.1.
import { HpackError } from './hpack-error.ts';

/** Larger integers are refused (section 5.1 asks for a limit): no index, length or size here comes near it. */
export const INTEGER_MAX = 2 ** 28;

/** Reads integers and octets of a block, one after the other. */
export class BlockReader {
  readonly bytes: Buffer;
  readonly end: number;
  at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  /** The octet at the current place, which is not consumed. */
  peek(): number {
    if (this.at >= this.end) throw new HpackError('the block ends within a field');
    return this.bytes[this.at]!;
  }

  /** An integer whose prefix has that many bits of the current octet. */
  integer(prefixBits: number): number {
    const most = (1 << prefixBits) - 1;
    let value = this.peek() & most;
    this.at += 1;
    if (value < most) return value;
    for (let shift = 0; ; shift += 7) {
      const octet = this.peek();
      this.at += 1;
      value += (octet & 0x7f) * 2 ** shift;
      if (value > INTEGER_MAX || shift > 28) throw new HpackError('an integer is too large');
      if (octet < 0x80) return value;
    }
  }

  /** Consumes octets; returns the place of the first. */
  skip(length: number): number {
    const start = this.at;
    if (length > this.end - start) throw new HpackError('a string is longer than its block');
    this.at = start + length;
    return start;
  }
}

/** Collects the octets of a block. */
export class BlockWriter {
  private bytes = Buffer.allocUnsafeSlow(1_024);
  private length = 0;

  clear(): void {
    this.length = 0;
  }

  /** A view of what was written, valid until more is written. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  octet(value: number): void {
    if (this.length === this.bytes.length) this.grow(1);
    this.bytes[this.length++] = value;
  }

  copy(octets: Uint8Array): void {
    if (this.length + octets.length > this.bytes.length) this.grow(octets.length);
    this.bytes.set(octets, this.length);
    this.length += octets.length;
  }

  /** Text of one octet for each character. */
  text(text: string): void {
    const { length } = text;
    if (this.length + length > this.bytes.length) this.grow(length);
    const { bytes } = this;
    for (let at = 0, place = this.length; at < length; at++, place++) bytes[place] = text.charCodeAt(at);
    this.length += length;
  }

  /** An integer. `flags` are the bits of the first octet above its prefix. */
  integer(flags: number, prefixBits: number, value: number): void {
    const most = (1 << prefixBits) - 1;
    if (value < most) {
      this.octet(flags | value);
      return;
    }
    this.octet(flags | most);
    let rest = value - most;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.octet((rest & 0x7f) | 0x80);
    this.octet(rest);
  }

  private grow(byBytes: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * (this.bytes.length + byBytes));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
