// Integers with a prefix (RFC 7541, section 5.1).
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

/** Writes an integer. `flags` are the bits of the first octet above its prefix. */
export function writeInteger(out: number[], flags: number, prefixBits: number, value: number): void {
  const most = (1 << prefixBits) - 1;
  if (value < most) {
    out.push(flags | value);
    return;
  }
  out.push(flags | most);
  let rest = value - most;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
}
