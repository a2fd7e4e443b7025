// Reads what a write-ahead file holds after a crash.
import { existsSync, readFileSync } from 'node:fs';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import type { NumberedAppend } from '../numbered-append.ts';
import { batchesOf, decodeHeader, type FileOwner, HEADER_BYTES } from './batch.ts';

/** The appends in the files of one worker, by shard. */
export class Recovered {
  readonly #shards = new Map<number, { appends: NumberedAppend[]; newest: number }>();
  /** Where a file is damaged. */
  readonly damages: string[] = [];

  /** The shards of which the files hold or name appends. One that is only named may have lost them to damage. */
  shards(): readonly number[] {
    return [...this.#shards.keys()];
  }

  add(shard: number, append: NumberedAppend): void {
    const found = this.#of(shard);
    found.appends.push(append);
    found.newest = Math.max(found.newest, append.number);
  }

  /** An append of this number was made durable, whether it can be read or not. */
  note(shard: number, number: number): void {
    const found = this.#of(shard);
    found.newest = Math.max(found.newest, number);
  }

  #of(shard: number): { appends: NumberedAppend[]; newest: number } {
    let found = this.#shards.get(shard);
    if (found === undefined) {
      found = { appends: [], newest: 0 };
      this.#shards.set(shard, found);
    }
    return found;
  }

  /**
   * The appends of a shard that follow the number that its log has, in order. STO-E001 when one that was acknowledged is
   * missing.
   */
  after(shard: number, number: number, directory: string): readonly NumberedAppend[] {
    const { appends = [], newest = number } = this.#shards.get(shard) ?? {};
    const following = appends.filter((append) => append.number > number).sort((a, b) => a.number - b.number);
    const whole = following.findIndex((append, i) => append.number !== number + 1 + i);
    const missing = Math.max(newest, number) - number - (whole < 0 ? following.length : whole);
    if (missing === 0) return following;
    const where = this.damages.length === 0 ? `a file is missing or older than the log` : this.damages.join('; ');
    throw new EngineError(
      'STO-E001',
      `${missing} acknowledged appends of shard ${shard} are missing from the write-ahead files in ${directory} (${where}): ` +
        'put the files back or restore a backup; to continue without these writes, move the files aside',
    );
  }
}

/** Adds what the file at `path` holds. It may be absent. STO-E001 when it cannot be read or belongs to another worker. */
export function recoverFile(path: string, owner: FileOwner, into: Recovered): void {
  if (!existsSync(path)) return;
  const bytes = contentsOf(path);
  const header = decodeHeader(bytes);
  if (header !== undefined && (header.owner.workers !== owner.workers || header.owner.worker !== owner.worker))
    throw new EngineError(
      'STO-E001',
      `${path} belongs to worker ${header.owner.worker} of ${header.owner.workers}, not to worker ${owner.worker} of ${owner.workers}`,
    );
  let end = HEADER_BYTES;
  for (const found of batchesOf(bytes, header?.generation)) {
    if (found.at > end) into.damages.push(`${path} is damaged at byte ${end}`);
    end = found.end;
    for (const [shard, number] of found.batch.before) into.note(shard, number);
    for (const { shard, append } of found.batch.appends) into.add(shard, append);
  }
}

function contentsOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw storageError(`${path} cannot be read`, error);
  }
}
