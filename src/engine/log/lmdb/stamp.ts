// The stamp of a log's folder. It keeps another version or layout from reading the log by mistake.
import { EngineError } from '../../base/errors.ts';

export interface LogStamp {
  /** The version of everything in the log (records and state) and of the segments built from it. */
  readonly formatVersion: number;
  /**
   * The oldest version that can also be read; such a log is stamped again. Not on disk. Absent: only its own version.
   */
  readonly readsFrom?: number | undefined;
  /** This shard's number, and the number of shards of the data directory, which is fixed when it is created. */
  readonly shard: number;
  readonly shards: number;
}

export function encodeStamp({ formatVersion, shard, shards }: LogStamp): Uint8Array {
  return Buffer.from(JSON.stringify({ formatVersion, shard, shards }));
}

/** STO-E001 when the bytes are not a stamp. */
export function decodeStamp(bytes: Uint8Array, directory: string): LogStamp {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(bytes).toString());
    const { formatVersion, shard, shards } = parsed as Partial<LogStamp>; // Each member is checked on the next line.
    if (isCount(formatVersion) && isCount(shard) && isCount(shards)) return { formatVersion, shard, shards };
  } catch {
    // Not JSON: refused below, like JSON of another shape.
  }
  throw new EngineError('STO-E001', `the format stamp of ${directory} is not readable`);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

/** STO-E001 when the stamp `found` does not match `wanted`. The message names both. */
export function checkStamp(found: LogStamp, wanted: LogStamp, directory: string): void {
  if (found.formatVersion > wanted.formatVersion || found.formatVersion < (wanted.readsFrom ?? wanted.formatVersion)) {
    const advice =
      found.formatVersion > wanted.formatVersion
        ? 'it was written by a newer version of this server'
        : 'it was written by an older version, and there is no upgrade from that version';
    throw new EngineError(
      'STO-E001',
      `${directory} has format version ${found.formatVersion}, this server reads version ${wanted.formatVersion}: ${advice}`,
    );
  }
  if (found.shards !== wanted.shards)
    throw new EngineError(
      'STO-E001',
      `${directory} belongs to a data directory of ${found.shards} shards, not ${wanted.shards}; the number cannot change after its creation`,
    );
  if (found.shard !== wanted.shard)
    throw new EngineError('STO-E001', `${directory} is shard ${found.shard}, not shard ${wanted.shard}`);
}
