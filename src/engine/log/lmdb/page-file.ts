// The pages of an environment file, as LMDB writes them, read without LMDB.
//
// All numbers are little-endian. (mdb.c of lmdb 3.5.6: MDB_page_header, MDB_node, MDB_ovpage, MDB_db, MDB_meta.)
//
//   page   := number u64, transaction u64, pad u16, flags u16, lower u16, upper u16 (overflow: pages u32), then
//             the places of its nodes u16 each, counted from behind the header; free room; nodes
//   node   := low u16, high u16, flags u16, key bytes u16, key, data       (at even places)
//             branch: page number = low | high << 16 | flags << 32;  leaf: data bytes = low | high << 16
//             data flagged BIG := first page u64, transaction u64, pages u64;  flagged SUB := a tree
//   tree   := pad u32, flags u16, depth u16, branch pages, leaf pages, overflow pages, entries, root page: u64 each
//   meta   := magic u32, version u32, address u64, map bytes u64, tree of free pages, main tree, last page u64,
//             transaction u64                                              (behind the header of pages 0 and 1)
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { EngineError } from '../../base/errors.ts';

export const HEADER_BYTES = 24;
export const NODE_BYTES = 8;
export const TREE_BYTES = 48;
const BIG_BYTES = 24;
export const BIG_DATA = 0x01;
export const SUB_DATA = 0x02;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** Bytes of the file that are read at once, and the number of such pieces that are cached. */
const PIECE_BYTES = 262_144;
const PIECES_MAX = 64;

export interface Tree {
  readonly name: string;
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  readonly root: number | undefined;
}

export interface Meta {
  readonly transaction: number;
  readonly address: number;
  readonly mapBytes: number;
  readonly lastPage: number;
  readonly free: Tree;
  readonly main: Tree;
}

export interface Node {
  readonly key: Buffer;
  /** Leaf: the data in the page. */
  readonly data: Buffer;
  /** Leaf: the length of the data, also of data in overflow pages. */
  readonly dataBytes: number;
  readonly flags: number;
  /** Branch: the page of the child. */
  readonly child: number;
  readonly bytes: number;
}

/** Undefined when the node reaches beyond the page. */
export function readNode(page: Buffer, at: number, isLeaf: boolean): Node | undefined {
  const low = page.readUInt16LE(at) + page.readUInt16LE(at + 2) * 65_536;
  const flags = page.readUInt16LE(at + 4);
  const keyAt = at + NODE_BYTES;
  const dataAt = keyAt + page.readUInt16LE(at + 6);
  const inside = !isLeaf ? 0 : (flags & BIG_DATA) !== 0 ? BIG_BYTES : low;
  const end = dataAt + inside;
  if (end > page.length || (isLeaf && (flags & ~(BIG_DATA | SUB_DATA)) !== 0)) return undefined;
  return {
    key: page.subarray(keyAt, dataAt),
    data: page.subarray(dataAt, end),
    dataBytes: low,
    flags: isLeaf ? flags : 0,
    child: isLeaf ? 0 : low + flags * 2 ** 32,
    bytes: end - at,
  };
}

export function readMeta(file: PageFile, number: number): Meta {
  const page = file.page(number);
  const at = HEADER_BYTES;
  return {
    free: readTree(page, at + 24, 'free pages'),
    main: readTree(page, at + 72, 'main'),
    address: readUint64(page, at + 8),
    mapBytes: readUint64(page, at + 16),
    lastPage: readUint64(page, at + 120),
    transaction: readUint64(page, at + 128),
  };
}

export function readTree(bytes: Buffer, at: number, name: string): Tree {
  return {
    name,
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branches: readUint64(bytes, at + 8),
    leaves: readUint64(bytes, at + 16),
    overflows: readUint64(bytes, at + 24),
    entries: readUint64(bytes, at + 32),
    root: bytes.readBigUInt64LE(at + 40) === NO_PAGE ? undefined : readUint64(bytes, at + 40),
  };
}

export function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** The pages of a file, read in larger pieces. */
export class PageFile {
  readonly path: string;
  readonly pageBytes: number;
  readonly #descriptor: number;
  readonly #pieces = new Map<number, Buffer>();

  constructor(path: string) {
    this.path = path;
    this.#descriptor = openSync(path, 'r');
    const first = Buffer.alloc(HEADER_BYTES + 28);
    readSync(this.#descriptor, first, 0, first.length, 0);
    this.pageBytes = first.readUInt32LE(HEADER_BYTES + 24);
  }

  /** The file may grow while it is read. */
  get bytes(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** A view that is valid until other pages are read. */
  page(number: number): Buffer {
    const from = number * this.pageBytes;
    const index = Math.floor(from / PIECE_BYTES);
    let piece = this.#pieces.get(index);
    if (piece === undefined || from + this.pageBytes > index * PIECE_BYTES + piece.length) {
      const { bytes } = this;
      if (from + this.pageBytes > bytes)
        throw new EngineError('STO-E001', `${this.path} is cut short: page ${number} is beyond its end`);
      piece = Buffer.alloc(Math.min(PIECE_BYTES, bytes - index * PIECE_BYTES));
      for (let at = 0; at < piece.length; ) {
        const count = readSync(this.#descriptor, piece, at, piece.length - at, index * PIECE_BYTES + at);
        if (count === 0) throw new EngineError('STO-E001', `${this.path} shrank while it was read`);
        at += count;
      }
      if (this.#pieces.size >= PIECES_MAX) this.#pieces.delete(this.#pieces.keys().next().value as number); // not empty
      this.#pieces.set(index, piece);
    }
    const at = from - index * PIECE_BYTES;
    return piece.subarray(at, at + this.pageBytes);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
