// Reads one value of an environment without LMDB, which writes to its lock file when it opens one for reading. So a data
// directory can be looked at without a change, and while a server has it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from '../../base/errors.ts';
import { STAMP_KEY } from './environment.ts';
import { HEADER_BYTES, type Meta, type Node, PageFile, readMeta, readNode, readTree, type Tree } from './page-file.ts';
import { DATA_FILE } from './preflight.ts';
import { decodeStamp, type LogStamp } from './stamp.ts';

/** Reads that a server may spoil by writing to the file meanwhile. */
const READS_MAX = 20;

/**
 * The format stamp of the log in the folder; undefined when there is no log. STO-E001 when the file is damaged, or is
 * written to so often that no read succeeds.
 */
export function readStamp(directory: string): LogStamp | undefined {
  const path = join(directory, DATA_FILE);
  if (!existsSync(path)) return undefined;
  let failure: unknown;
  for (let read = 0; read < READS_MAX; read += 1) {
    const file = new PageFile(path);
    try {
      const { main, transaction } = newestMeta(file);
      const tree = find(file, main, 'stamp');
      const value = tree && find(file, readTree(tree.data, 0, 'stamp'), STAMP_KEY);
      // A commit since then may have written over the pages that were read.
      if (transactionNow(path) === transaction)
        return value === undefined ? undefined : decodeStamp(value.data, directory);
    } catch (error) {
      failure = error;
    } finally {
      file.close();
    }
  }
  if (failure instanceof EngineError) throw failure;
  if (failure !== undefined) throw new EngineError('STO-E001', `${path} is damaged: ${String(failure)}`);
  throw new EngineError('STO-E001', `${path} changes while it is read: try again, or stop the server`, {
    retryable: true,
  });
}

/** The pages that a `PageFile` has read are cached, so this one reads anew. */
function transactionNow(path: string): number {
  const file = new PageFile(path);
  try {
    return newestMeta(file).transaction;
  } finally {
    file.close();
  }
}

function newestMeta(file: PageFile): Meta {
  const [even, odd] = [readMeta(file, 0), readMeta(file, 1)];
  return odd.transaction > even.transaction ? odd : even;
}

/** The leaf node of a key. Names of databases may end with a zero byte. */
function find(file: PageFile, tree: Tree, key: string): Node | undefined {
  const wanted = Buffer.from(key);
  let page = tree.root;
  for (let level = tree.depth; page !== undefined && level > 1; level -= 1)
    // The first key of a branch page covers everything below the second one.
    page = nodesOf(file, page, false).findLast(({ key: from }, at) => at === 0 || from.compare(wanted) <= 0)?.child;
  if (page === undefined) return undefined;
  return nodesOf(file, page, true).find((node) => node.key.toString('latin1').replace(/\0$/, '') === key);
}

function nodesOf(file: PageFile, number: number, isLeaf: boolean): readonly Node[] {
  const page = file.page(number);
  const count = page.readUInt16LE(20) / 2;
  return Array.from({ length: count }, (_, at) => {
    const node = readNode(page, HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + at * 2), isLeaf);
    if (node === undefined) throw new EngineError('STO-E001', `page ${number} of ${file.path} is damaged`);
    return node;
  });
}
