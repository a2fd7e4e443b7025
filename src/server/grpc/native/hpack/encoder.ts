// Headers to header blocks (RFC 7541, sections 3 and 6).
import { BlockWriter } from './block.ts';
import { DynamicTable } from './dynamic-table.ts';
import { huffmanLength, writeHuffman } from './huffman.ts';
import { STATIC_ENTRIES, STATIC_INDEX_OF_NAME, STATIC_NAMES, STATIC_VALUES } from './static-table.ts';

/** RFC 9113, section 6.5.2: the size that a peer accepts until it announces another one. */
export const TABLE_BYTES_DEFAULT = 4_096;

export class HpackEncoder {
  private readonly table: DynamicTable;
  private readonly bytesMax: number;
  private readonly out = new BlockWriter();
  /** The smallest size since the last block: section 4.2 asks to send it, and then the current one. */
  private smallest: number | undefined;

  /** `bytesMax`: a larger table is not used, whatever the peer accepts. */
  constructor(bytesMax = TABLE_BYTES_DEFAULT) {
    this.bytesMax = bytesMax;
    this.table = new DynamicTable(Math.min(bytesMax, TABLE_BYTES_DEFAULT));
    if (bytesMax < TABLE_BYTES_DEFAULT) this.smallest = bytesMax;
  }

  /** Changes when a block has changed the table. */
  get version(): number {
    return this.table.version;
  }

  /** The peer has announced the size of its table (SETTINGS_HEADER_TABLE_SIZE). */
  resize(peersBytesMax: number): void {
    const bytesMax = Math.min(this.bytesMax, peersBytesMax);
    if (bytesMax === this.table.sizeMax) return;
    this.smallest = Math.min(this.smallest ?? bytesMax, bytesMax);
    this.table.resize(bytesMax);
  }

  /** Begins a block. */
  begin(): void {
    const { out } = this;
    out.clear();
    if (this.smallest === undefined) return;
    if (this.smallest < this.table.sizeMax) out.integer(0x20, 5, this.smallest);
    out.integer(0x20, 5, this.table.sizeMax);
    this.smallest = undefined;
  }

  /** Adds headers that will be sent again: they enter the table, compressed. `list` has names and values in turn. */
  indexed(list: readonly string[]): void {
    for (let at = 0; at < list.length; at += 2) this.write(list[at]!, list[at + 1]!, true);
  }

  /** Adds headers that stay out of the table, as they are: one octet a character. */
  literal(list: readonly string[]): void {
    for (let at = 0; at < list.length; at += 2) this.write(list[at]!, list[at + 1]!, false);
  }

  /** Adds a part of an earlier block of the same table. */
  again(part: Uint8Array): void {
    this.out.copy(part);
  }

  /** The block so far: a view, valid until more is added. */
  view(): Buffer {
    return this.out.view();
  }

  private write(name: string, value: string, isIndexed: boolean): void {
    const { out } = this;
    const index = this.indexOf(name, value);
    if (index > 0) {
      out.integer(0x80, 7, index);
      return;
    }
    out.integer(isIndexed ? 0x40 : 0x00, isIndexed ? 6 : 4, -index);
    if (index === 0) writeText(out, name, isIndexed);
    writeText(out, value, isIndexed);
    if (isIndexed) this.table.add(name, value);
  }

  /** Index of the header; below 0: minus the index of its name; 0 when neither is in a table. */
  private indexOf(name: string, value: string): number {
    const known = STATIC_INDEX_OF_NAME.get(name) ?? 0;
    for (let index = known; index > 0 && STATIC_NAMES[index] === name; index++)
      if (STATIC_VALUES[index] === value) return index;
    let named = known;
    for (let at = 0; at < this.table.length; at++) {
      if (this.table.nameAt(at) !== name) continue;
      if (this.table.valueAt(at) === value) return STATIC_ENTRIES + 1 + at;
      if (named === 0) named = STATIC_ENTRIES + 1 + at;
    }
    return -named;
  }
}

/** A string literal (section 5.2), compressed where that is asked for and not longer. */
function writeText(out: BlockWriter, text: string, mayCompress: boolean): void {
  const compressed = mayCompress && text !== '' ? huffmanLength(text) : Number.POSITIVE_INFINITY;
  if (compressed <= text.length) {
    out.integer(0x80, 7, compressed);
    writeHuffman(out, text);
    return;
  }
  out.integer(0, 7, text.length);
  out.text(text);
}
