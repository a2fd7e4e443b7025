// The data directory of a node whose logs are in a store: a cache that may be deleted while the node does not run. `node.json`
// holds the node's name and the mark of the store that the cache is of.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, replaceFile, syncDirectory } from '../engine/base/durable-file.ts';
import { EngineError } from '../engine/base/errors.ts';
import { LAYOUT_FILE } from './data-directory.ts';

export const NODE_FILE = 'node.json';
const FORMAT = 1;
/** Letters and digits of a ULID, by value. */
const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Folders that the store can fill again. */
const CACHED = /^(control|shard-\d+)$/;

interface NodeFile {
  readonly format: number;
  readonly node: string;
  /** The store's mark; absent before the first start has reached it. */
  readonly store?: string;
}

/** True for a directory that a node has used. */
export function isNodeDirectory(directory: string): boolean {
  return existsSync(join(directory, NODE_FILE));
}

/** For a start without a store. Throws STO-E001. */
export function refuseNodeDirectory(directory: string): void {
  if (isNodeDirectory(directory))
    throw new EngineError(
      'STO-E001',
      `${directory} is the cache of a node whose data are in a database: set GRANARY_STORE, or name another --data-dir`,
    );
}

/**
 * The name of the node of this directory, a ULID, which is made at the first start. Throws STO-E001 when the directory holds
 * a deployment of its own.
 */
export function nodeOf(directory: string, nowMs: number): string {
  if (existsSync(join(directory, LAYOUT_FILE)))
    throw new EngineError(
      'STO-E001',
      `${directory} holds the data of a server without a store: name another --data-dir for the cache, or unset GRANARY_STORE`,
    );
  makeFolder(join(directory, 'keys'));
  const known = readNode(directory);
  if (known !== undefined) return known.node;
  const node = ulid(nowMs);
  writeNode(directory, { format: FORMAT, node });
  return node;
}

/** Deletes what the directory keeps of another store than that of this mark. True when there was something to delete. */
export function keepCacheOf(directory: string, node: string, store: string): boolean {
  if (readNode(directory)?.store === store) return false;
  const names = readdirSync(directory).filter((name) => CACHED.test(name));
  for (const name of names) rmSync(join(directory, name), { recursive: true, force: true });
  syncDirectory(directory);
  writeNode(directory, { format: FORMAT, node, store });
  return names.length > 0;
}

/** A damaged file is as good as none: the node gets another name. */
function readNode(directory: string): NodeFile | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(directory, NODE_FILE), 'utf8'));
    const { format, node, store } = parsed as Partial<NodeFile>; // each is checked here
    if (format !== FORMAT || typeof node !== 'string' || !ULID.test(node)) return undefined;
    return typeof store === 'string' ? { format, node, store } : { format, node };
  } catch {
    return undefined;
  }
}

function writeNode(directory: string, file: NodeFile): void {
  replaceFile(join(directory, NODE_FILE), Buffer.from(`${JSON.stringify(file)}\n`));
}

/** 48 bits of the time, then 80 random ones, five bits a character. */
export function ulid(nowMs: number): string {
  const bits = (BigInt(nowMs) << 80n) | BigInt(`0x${randomBytes(10).toString('hex')}`);
  return Array.from({ length: 26 }, (_, i) => ULID_DIGITS[Number((bits >> BigInt(5 * (25 - i))) & 31n)]!).join('');
}
