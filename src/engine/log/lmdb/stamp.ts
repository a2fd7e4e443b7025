// What a log's folder says about itself, so that another version or another layout never reads it by mistake.
import { EngineError } from '../../base/errors.ts';

export interface LogStamp {
  /** Version of everything in the log: records, state, and the segments that follow it. */
  readonly formatVersion: number;
  /** Not on disk: the oldest version that is read as well, and stamped anew. Absent: only its own. */
  readonly readsFrom?: number;
  /** This shard's number and how many the data directory has, fixed when it was made. */
  readonly shard: number;
  readonly shards: number;
}

export function encodeStamp({ formatVersion, shard, shards }: LogStamp): Uint8Array {
  return Buffer.from(JSON.stringify({ formatVersion, shard, shards }));
}

/** STO-E001 when the bytes are no stamp. */
export function decodeStamp(bytes: Uint8Array, directory: string): LogStamp {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(bytes).toString());
    const { formatVersion, shard, shards } = parsed as Partial<LogStamp>; // Each is checked on the next line.
    if (isCount(formatVersion) && isCount(shard) && isCount(shards)) return { formatVersion, shard, shards };
  } catch {
    // Not JSON: said below, as for JSON of another shape.
  }
  throw new EngineError('STO-E001', `the format stamp of ${directory} is not readable`);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** STO-E001 when a log stamped `found` is not the one that `wanted` describes; the text names both. */
export function checkStamp(found: LogStamp, wanted: LogStamp, directory: string): void {
  if (found.formatVersion > wanted.formatVersion || found.formatVersion < (wanted.readsFrom ?? wanted.formatVersion)) {
    const advice =
      found.formatVersion > wanted.formatVersion
        ? 'it was written by a newer version of this server'
        : 'it was written by an older version, and no upgrade from that one is known';
    throw new EngineError(
      'STO-E001',
      `${directory} has format version ${found.formatVersion}, this server reads version ${wanted.formatVersion}: ${advice}`,
    );
  }
  if (found.shards !== wanted.shards)
    throw new EngineError(
      'STO-E001',
      `${directory} belongs to a data directory of ${found.shards} shards, not ${wanted.shards}; the number is fixed when it is made`,
    );
  if (found.shard !== wanted.shard)
    throw new EngineError('STO-E001', `${directory} is shard ${found.shard}, not shard ${wanted.shard}`);
}
