// The versions of the formats in a data directory, read from its files without opening it.
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from '../../engine/base/errors.ts';
import { FORMAT_VERSION as SEGMENT_FORMAT } from '../../engine/index/files/segment-file.ts';
import { VectorFile } from '../../engine/index/vectors/vector-file.ts';
import { FORMAT_VERSION as VECTOR_FORMAT } from '../../engine/index/vectors/vector-layout.ts';
import { FORMAT_VERSION, OLDEST_FORMAT } from '../../engine/log/format.ts';
import { readStamp } from '../../engine/log/lmdb/read-value.ts';
import { SEGMENTS_FOLDER } from '../../engine/maintain/housekeeping/segments-directory.ts';
import { CONTROL_FORMAT, CONTROL_OLDEST } from '../../server/control/open.ts';
import { writeAheadFolder } from '../../server/write-ahead.ts';

export type Part = 'control' | 'log' | 'segments' | 'vectors' | 'write-ahead';

export interface Format {
  readonly part: Part;
  /** The versions that were found, ascending; empty where there is no such file yet. */
  readonly found: readonly number[];
  /** The oldest version that is read, and the one that is written. */
  readonly reads: number;
  readonly writes: number;
  /** Files of an earlier version, and their size: a start builds segments again. */
  readonly outdated: { readonly files: number; readonly bytes: number };
}

/** Vectors of one memory by one embedder. */
export interface Vectors {
  readonly memory: number;
  readonly embedder: string;
  readonly dimensions: number;
  readonly rows: number;
}

/** Bytes 8 to 10 of a segment or vector file hold its version. */
const VERSION_AT = 8;
const WRITE_AHEAD_MAGIC = Buffer.from('GRNRYWAL');
const WRITE_AHEAD_FORMAT = 1;

/** Throws STO-E001 for files that are damaged or of an unknown kind. */
export function formatsOf(directory: string, shards: number): readonly Format[] {
  const each = Array.from({ length: shards }, (_, shard) => join(directory, `shard-${shard}`));
  const logs = each.map((shard) => readStamp(join(shard, 'log'))?.formatVersion);
  const control = readStamp(join(directory, 'control'))?.formatVersion;
  const segments = each.flatMap(segmentFolders).flatMap((folder) => versionsIn(folder, '.seg', 'GRANSEG1', 'be'));
  const vectors = each.flatMap((shard) => versionsIn(join(shard, 'vectors'), '.vec', 'GRANVEC1', 'le'));
  const none = { files: 0, bytes: 0 };
  const versions = (all: readonly (number | undefined)[]): readonly number[] =>
    [...new Set(all.filter((one) => one !== undefined))].sort((one, other) => one - other);
  const old = segments.filter(({ version }) => version < SEGMENT_FORMAT);
  return [
    { part: 'control', found: versions([control]), reads: CONTROL_OLDEST, writes: CONTROL_FORMAT, outdated: none },
    { part: 'log', found: versions(logs), reads: OLDEST_FORMAT, writes: FORMAT_VERSION, outdated: none },
    {
      part: 'segments',
      found: versions(segments.map(({ version }) => version)),
      // Earlier ones are left out, and built again from the log.
      reads: 1,
      writes: SEGMENT_FORMAT,
      outdated: { files: old.length, bytes: old.reduce((sum, { bytes }) => sum + bytes, 0) },
    },
    {
      part: 'vectors',
      found: versions(vectors.map(({ version }) => version)),
      reads: VECTOR_FORMAT,
      writes: VECTOR_FORMAT,
      outdated: none,
    },
    {
      part: 'write-ahead',
      found: writeAheadFiles(directory).length === 0 ? [] : [WRITE_AHEAD_FORMAT],
      reads: WRITE_AHEAD_FORMAT,
      writes: WRITE_AHEAD_FORMAT,
      outdated: none,
    },
  ];
}

/** A rebuild gives the folder another name. */
function segmentFolders(shard: string): readonly string[] {
  if (!existsSync(shard)) return [];
  return readdirSync(shard).flatMap((name) => (SEGMENTS_FOLDER.test(name) ? [join(shard, name)] : []));
}

function versionsIn(
  folder: string,
  ending: string,
  magic: string,
  order: 'be' | 'le',
): readonly { readonly version: number; readonly bytes: number }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .flatMap((name) => {
      const path = join(folder, name);
      const head = headOf(path, VERSION_AT + 2);
      // A merge or an erasure of a running server removed it, or it is being written.
      if (head === undefined || head.length < VERSION_AT + 2) return [];
      if (head.toString('latin1', 0, VERSION_AT) !== magic)
        throw new EngineError('STO-E001', `${path} is damaged: its header is wrong; restore a backup`);
      const version = order === 'be' ? head.readUInt16BE(VERSION_AT) : head.readUInt16LE(VERSION_AT);
      return [{ version, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }];
    });
}

/** Undefined when the file is no longer there. */
function headOf(path: string, length: number): Buffer | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const head = Buffer.alloc(length);
    return head.subarray(0, readSync(descriptor, head, 0, length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Write-ahead files that may hold appends. STO-E001 for one of an unknown format. */
function writeAheadFiles(directory: string): readonly string[] {
  const folder = writeAheadFolder(directory);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => {
    if (!/\.[ab]$/.test(name)) return false;
    const head = headOf(join(folder, name), WRITE_AHEAD_MAGIC.length);
    // A freed file is overwritten with zeros.
    if (head === undefined || head.every((byte) => byte === 0)) return false;
    if (!head.equals(WRITE_AHEAD_MAGIC))
      throw new EngineError('STO-E001', `${join(folder, name)} has a format that this version does not know`);
    return true;
  });
}

/** The vectors in the directory, from the directories of their files. Files of a running server may go meanwhile. */
export function vectorsOf(directory: string, shards: number): readonly Vectors[] {
  const found = new Map<string, Vectors>();
  for (let shard = 0; shard < shards; shard += 1) {
    const folder = join(directory, `shard-${shard}`, 'vectors');
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const number = /^vectors-(\d{10})\.vec$/.exec(name)?.[1];
      const path = join(folder, name);
      if (number === undefined || !existsSync(path)) continue;
      const file = VectorFile.open(path, Number(number));
      for (const { memory, stamp, rows } of file.entries) {
        const key = `${memory} ${stamp.name}`;
        const before = found.get(key)?.rows ?? 0;
        found.set(key, { memory, embedder: stamp.name, dimensions: stamp.dimensions, rows: before + rows });
      }
      file.release();
    }
  }
  return [...found.values()];
}
