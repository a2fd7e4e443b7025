// Header blocks to headers (RFC 7541, sections 3 and 6).
import { BlockReader } from './block.ts';
import { DynamicTable, ENTRY_OVERHEAD_BYTES } from './dynamic-table.ts';
import { HpackError } from './hpack-error.ts';
import { huffmanDecoded } from './huffman.ts';
import { STATIC_ENTRIES, STATIC_NAMES, STATIC_VALUES } from './static-table.ts';

export interface DecoderOptions {
  /** The table's size that this end has announced (SETTINGS_HEADER_TABLE_SIZE). */
  readonly tableBytesMax: number;
  /** Octets of a header list (RFC 9113, section 6.5.2); beyond: the list is cut. */
  readonly listBytesMax: number;
  /** Headers of a list; beyond: the list is cut. */
  readonly headersMax: number;
}

export class HpackDecoder {
  private readonly options: DecoderOptions;
  private readonly table: DynamicTable;
  private list: string[] = [];
  private listBytes = 0;
  private isCut = false;

  constructor(options: DecoderOptions) {
    this.options = options;
    this.table = new DynamicTable(options.tableBytesMax);
  }

  /** Changes when a block has changed the table. */
  get version(): number {
    return this.table.version;
  }

  /**
   * Names and values in turn, one character for each octet; undefined for a list over a limit, which still changes the
   * table. Throws HpackError.
   */
  decode(bytes: Buffer, start = 0, end = bytes.length): string[] | undefined {
    const reader = new BlockReader(bytes, start, end);
    this.list = [];
    this.listBytes = 0;
    this.isCut = false;
    for (let isFirst = true; !reader.isAtEnd; isFirst = this.field(reader, isFirst));
    const { list } = this;
    this.list = [];
    return this.isCut ? undefined : list;
  }

  /** True when the block may still resize the table: section 4.2 allows it at the start only. */
  private field(reader: BlockReader, isFirst: boolean): boolean {
    const octet = reader.peek();
    if (octet >= 0x80) this.indexed(reader.integer(7));
    else if (octet >= 0x40) this.literal(reader, 6, true);
    else if (octet >= 0x20) {
      if (!isFirst) throw new HpackError('the size of the table changes within a block');
      this.resize(reader.integer(5));
      return true;
    } else this.literal(reader, 4, false);
    return false;
  }

  private indexed(index: number): void {
    this.push(this.nameOf(index), index <= STATIC_ENTRIES ? STATIC_VALUES[index]! : this.dynamicValue(index));
  }

  private literal(reader: BlockReader, prefixBits: number, isIndexed: boolean): void {
    const index = reader.integer(prefixBits);
    const name = index === 0 ? text(reader) : this.nameOf(index);
    const value = text(reader);
    if (isIndexed) this.table.add(name, value);
    this.push(name, value);
  }

  private resize(bytesMax: number): void {
    if (bytesMax > this.options.tableBytesMax) throw new HpackError('the table is larger than announced');
    this.table.resize(bytesMax);
  }

  private push(name: string, value: string): void {
    this.listBytes += name.length + value.length + ENTRY_OVERHEAD_BYTES;
    this.isCut ||= this.listBytes > this.options.listBytesMax || this.list.length === 2 * this.options.headersMax;
    if (!this.isCut) this.list.push(name, value);
  }

  private nameOf(index: number): string {
    if (index === 0) throw new HpackError('no entry has index 0');
    if (index <= STATIC_ENTRIES) return STATIC_NAMES[index]!;
    return this.table.nameAt(this.dynamicAt(index));
  }

  private dynamicValue(index: number): string {
    return this.table.valueAt(this.dynamicAt(index));
  }

  private dynamicAt(index: number): number {
    const at = index - STATIC_ENTRIES - 1;
    if (at >= this.table.length) throw new HpackError(`no entry has index ${index}`);
    return at;
  }
}

/** A string literal (section 5.2). */
function text(reader: BlockReader): string {
  const isHuffman = reader.peek() >= 0x80;
  const length = reader.integer(7);
  const start = reader.skip(length);
  if (isHuffman) return huffmanDecoded(reader.bytes, start, start + length);
  return reader.bytes.toString('latin1', start, start + length);
}
