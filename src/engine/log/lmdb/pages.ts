// Checks the pages of an environment before LMDB reads them. LMDB trusts its pages: a flipped bit in a page number,
// offset or length makes it read outside its map, which kills the process, or show an older tree, which loses newer
// data. This file walks the trees first and refuses an inconsistent page with a message.
//
// src/engine/log/lmdb/page-file.ts has the layout of a page.
import { EngineError } from '../../base/errors.ts';
import { LOG_CHECK_BYTES_MAX } from '../../base/limits.ts';
import {
  BIG_DATA,
  HEADER_BYTES,
  type Meta,
  NODE_BYTES,
  type Node,
  PageFile,
  readMeta,
  readNode,
  readTree,
  readUint64,
  SUB_DATA,
  TREE_BYTES,
  type Tree,
} from './page-file.ts';

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const META = 0x08;
const INTEGER_KEY = 0x08;
const DEPTH_MAX = 32;
const MAP_BYTES_MAX = 2 ** 44;
const LAST_PAGES_FREE = 65_536;
/** Counts of a walk over one tree. */
interface Counted {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

/**
 * Checks the environment file at `path`, whose two meta pages are known to be meta pages. In files over
 * `LOG_CHECK_BYTES_MAX` only branch pages are checked, so that a start stays short; `whole` checks every page of any
 * file. Yields after each page. Throws an EngineError STO-E001 that names the page.
 */
export function* checkPages(
  path: string,
  { whole, bytesMax = LOG_CHECK_BYTES_MAX }: { readonly whole: boolean; readonly bytesMax?: number | undefined },
): Generator<void, void, void> {
  const file = new PageFile(path);
  try {
    yield* new Walk(file, whole || file.bytes <= bytesMax).run();
  } finally {
    file.close();
  }
}

class Walk {
  readonly #file: PageFile;
  readonly #withLeaves: boolean;
  /** One byte a page: 1 in a tree, 2 free. */
  #seen = new Uint8Array(0);
  #meta!: Meta;
  /** True for a copy without later writes: its pages start again at transaction 1. */
  #isCopy = false;

  constructor(file: PageFile, withLeaves: boolean) {
    this.#file = file;
    this.#withLeaves = withLeaves;
  }

  *run(): Generator<void, void, void> {
    const metas = [readMeta(this.#file, 0), readMeta(this.#file, 1)] as const;
    for (const [number, meta] of metas.entries()) this.#checkMeta(meta, number);
    this.#checkTransactions(metas);
    // The choice that LMDB makes: the newer one, or the first of two that are equally new.
    this.#meta = metas[1].transaction > metas[0].transaction ? metas[1] : metas[0];
    this.#seen = new Uint8Array(Math.max(2, this.#meta.lastPage + 1));
    this.#seen.fill(1, 0, 2);
    yield* this.#tree(this.#meta.main);
    yield* this.#tree(this.#meta.free);
  }

  /** Checks the values that LMDB reads from a meta page before any other page. */
  #checkMeta({ address, mapBytes, lastPage, free, main }: Meta, number: number): void {
    const { pageBytes, bytes } = this.#file;
    const page = this.#file.page(number);
    if (readUint64(page, 0) !== number || page.readUInt16LE(18) !== META) this.#wrong(number, 'is no meta page');
    if (address !== 0 || free.flags !== INTEGER_KEY || main.flags !== 0)
      this.#wrong(number, 'has flags of another file');
    // The last pages may be free and absent from the file, but only to a multiple of its size.
    if (lastPage > (bytes / pageBytes + LAST_PAGES_FREE) * 16) this.#wrong(number, `has a last page ${lastPage}`);
    if (mapBytes < Math.min(bytes, lastPage * pageBytes) || mapBytes > MAP_BYTES_MAX)
      this.#wrong(number, `has a map of ${mapBytes} bytes`);
  }

  /** Checks that commits wrote the two meta pages in turn, each with its own number. */
  #checkTransactions(metas: readonly [Meta, Meta]): void {
    const [even, odd] = metas.map(({ transaction }) => transaction) as [number, number]; // there are two
    // A new file, or a copy, has an empty first page and one used meta page.
    const isBegun = even === 0 && metas[0].main.root === undefined;
    this.#isCopy = isBegun;
    const isInTurn = Math.abs(even - odd) === 1 && even % 2 === 0;
    if (!isBegun && !isInTurn) this.#wrong(0, `has transaction ${even}, which does not follow ${odd}`);
  }

  *#tree(tree: Tree): Generator<void, void, void> {
    const isFree = tree === this.#meta.free;
    const { root, depth } = tree;
    if (root === undefined) {
      if (depth !== 0 || tree.entries !== 0) this.#wrong(0, `tree "${tree.name}" has entries and no root`);
      return;
    }
    if ((tree.flags & ~INTEGER_KEY) !== 0) this.#wrong(root, `tree "${tree.name}" has flags ${tree.flags}`);
    if (depth < 1 || depth > DEPTH_MAX) this.#wrong(root, `tree "${tree.name}" has depth ${depth}`);
    const counted: Counted = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    yield* this.#page({ tree, isFree, counted }, root, { level: depth, above: undefined, below: undefined });
    const wanted = this.#withLeaves ? tree : { ...counted, branches: tree.branches };
    for (const what of ['branches', 'leaves', 'overflows', 'entries'] as const)
      if (counted[what] !== wanted[what])
        this.#wrong(root, `tree "${tree.name}" should have ${wanted[what]} ${what}, not ${counted[what]}`);
  }

  /** `level` is 1 for a leaf. This page's keys lie between `above` (inclusive) and `below`. */
  *#page(
    walked: { readonly tree: Tree; readonly isFree: boolean; readonly counted: Counted },
    number: number,
    place: { readonly level: number; readonly above: Buffer | undefined; readonly below: Buffer | undefined },
  ): Generator<void, void, void> {
    const { tree, isFree, counted } = walked;
    const { level } = place;
    const isLeaf = level === 1;
    this.#take(number, 1);
    if (isLeaf && !this.#withLeaves && tree !== this.#meta.main) return;
    const page = this.#file.page(number);
    this.#checkHeader(page, number, isLeaf ? LEAF : BRANCH);
    // Every commit writes the leaf of the main tree that leads to its changes. An old root therefore means an older
    // tree.
    if (tree === this.#meta.main && level === tree.depth && !this.#isCopy)
      if (readUint64(page, 8) !== this.#meta.transaction)
        this.#wrong(
          number,
          `belongs to transaction ${readUint64(page, 8)}, its meta page to ${this.#meta.transaction}`,
        );
    const nodes = this.#nodes(page, number, isLeaf);
    this.#checkKeys(nodes, number, { ...place, isInteger: (tree.flags & INTEGER_KEY) !== 0, isLeaf });
    if (isLeaf) counted.leaves += 1;
    else counted.branches += 1;
    yield;
    for (const [i, node] of nodes.entries()) {
      if (!isLeaf) {
        const above = i === 0 ? place.above : node.key;
        yield* this.#page(walked, node.child, { level: level - 1, above, below: nodes[i + 1]?.key ?? place.below });
        continue;
      }
      counted.entries += 1;
      if ((node.flags & BIG_DATA) !== 0) {
        counted.overflows += this.#overflow(node, number);
        yield;
      } else if (isFree) this.#freePages(node.data, number);
      if ((node.flags & SUB_DATA) === 0) continue;
      if (tree !== this.#meta.main || node.data.length !== TREE_BYTES) this.#wrong(number, 'has a tree where none is');
      yield* this.#tree(readTree(node.data, 0, node.key.toString('latin1').replace(/\0$/, '')));
    }
  }

  #checkHeader(page: Buffer, number: number, flags: number): void {
    if (readUint64(page, 0) !== number) this.#wrong(number, `has the page number ${readUint64(page, 0)}`);
    if (readUint64(page, 8) > this.#meta.transaction)
      this.#wrong(number, 'belongs to a transaction that was never committed');
    if (page.readUInt16LE(18) !== flags) this.#wrong(number, `has flags ${page.readUInt16LE(18)}, not ${flags}`);
  }

  #nodes(page: Buffer, number: number, isLeaf: boolean): Node[] {
    const room = this.#file.pageBytes - HEADER_BYTES;
    const lower = page.readUInt16LE(20);
    const upper = page.readUInt16LE(22);
    if (lower > upper || upper > room || lower % 2 === 1 || lower === 0)
      this.#wrong(number, `has node offsets up to ${lower} and nodes from ${upper}`);
    const nodes: Node[] = [];
    let used = 0;
    for (let at = 0; at < lower; at += 2) {
      const offset = page.readUInt16LE(HEADER_BYTES + at);
      if (offset < upper || offset % 2 === 1 || offset + NODE_BYTES > room)
        this.#wrong(number, `has a node at ${offset}`);
      const node = readNode(page, HEADER_BYTES + offset, isLeaf);
      if (node === undefined) this.#wrong(number, `has a node at ${offset} that reaches beyond the page`);
      used += node.bytes + (node.bytes % 2);
      nodes.push(node);
    }
    // Nodes lie one behind the other. Overlapping or overlong nodes show here.
    if (used !== room - upper) this.#wrong(number, `has ${used} bytes of nodes in ${room - upper}`);
    return nodes;
  }

  #checkKeys(
    nodes: readonly Node[],
    number: number,
    place: { above: Buffer | undefined; below: Buffer | undefined; isInteger: boolean; isLeaf: boolean },
  ): void {
    const compare = place.isInteger ? compareIntegers : Buffer.compare;
    // The first key of a branch page covers everything below the second key, and is not compared.
    let before = place.above;
    let mayBeEqual = true;
    nodes.forEach(({ key }, i) => {
      if (!place.isLeaf && i === 0) return;
      if (before !== undefined && (mayBeEqual ? compare(before, key) > 0 : compare(before, key) >= 0))
        this.#wrong(number, 'has keys out of order');
      before = key;
      mayBeEqual = false;
    });
    if (before !== undefined && place.below !== undefined && nodes.length > 0 && before !== place.above)
      if (compare(before, place.below) >= 0) this.#wrong(number, 'has keys that belong in a neighbouring page');
  }

  #overflow({ data, dataBytes }: Node, number: number): number {
    const [first, pages] = [readUint64(data, 0), readUint64(data, 16)];
    if (pages !== Math.ceil((HEADER_BYTES + dataBytes) / this.#file.pageBytes))
      this.#wrong(number, `has ${dataBytes} bytes in ${pages} pages`);
    this.#take(first, pages);
    const page = this.#file.page(first);
    this.#checkHeader(page, first, OVERFLOW);
    if (page.readUInt32LE(20) !== pages)
      this.#wrong(first, `is the first of ${page.readUInt32LE(20)} overflow pages, not of ${pages}`);
    return pages;
  }

  /**
   * The data is a count and then page numbers. A negative number is a length: the page after it is the first of that
   * many.
   */
  #freePages(data: Buffer, number: number): void {
    const words = Math.floor(data.length / 8);
    const count = words === 0 ? 0 : Number(data.readBigInt64LE(0));
    if (data.length % 8 !== 0 || count < 0 || count >= words) this.#wrong(number, 'has an invalid list of free pages');
    for (let at = 1, length = 1; at <= count; at++) {
      const value = Number(data.readBigInt64LE(at * 8));
      if (value < 0) {
        length = -value;
        continue;
      }
      if (value > 0) this.#take(value, length, 2);
      length = 1;
    }
  }

  /** Marks pages as used. Every page belongs to one place: a tree, or the free list. */
  #take(first: number, count: number, as = 1): void {
    if (first < 2 || first + count - 1 > this.#meta.lastPage) this.#wrong(first, 'is not a page of the file');
    if (as === 1 && count > 1 && (first + count) * this.#file.pageBytes > this.#file.bytes)
      this.#wrong(first, 'lies behind the end of the file');
    for (let page = first; page < first + count; page++) {
      if (this.#seen[page] !== 0)
        this.#wrong(page, this.#seen[page] === as ? 'is used twice' : 'is both in use and free');
      this.#seen[page] = as;
    }
  }

  #wrong(page: number, problem: string): never {
    throw new EngineError('STO-E001', `page ${page} of ${this.#file.path} is damaged: it ${problem}`);
  }
}
function compareIntegers(one: Buffer, other: Buffer): number {
  if (one.length !== other.length || (one.length !== 4 && one.length !== 8)) return one.length - other.length || 1;
  const [a, b] = [one, other].map((key) => (key.length === 4 ? key.readUInt32LE(0) : readUint64(key, 0)));
  return a! - b!;
}
