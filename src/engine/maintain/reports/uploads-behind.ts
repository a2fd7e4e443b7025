// The segments in force that a store's database does not have yet, read from the database alone. Until they are there, a
// takeover builds them again from the log.

import { decodeManifest, fileName, MANIFEST_KEY } from '../../index/files/manifest.ts';
import { unframe } from '../../log/frame.ts';
import { type Database, databaseError } from '../../log/postgres/database.ts';
import { SEGMENTS_STATE, segmentsFolder } from '../housekeeping/segments-directory.ts';

/** Their number by shard; shards that lack none are absent. Rejects with STO-E001. */
export async function uploadsBehind(database: Database): Promise<ReadonlyMap<number, number>> {
  const keys = [MANIFEST_KEY, SEGMENTS_STATE].map((key) => Buffer.from(key));
  try {
    const [states, stored] = await database.ask((sql) =>
      Promise.all([
        sql`SELECT shard, key, frame FROM granary_state WHERE key IN ${sql(keys)} AND frame IS NOT NULL`,
        sql`SELECT shard, name FROM granary_segments`,
      ]),
    );
    const state = (shard: number, wanted: string): Buffer | undefined => {
      const frame: Buffer | undefined = states.find((row) => Number(row['shard']) === shard && row['key'].toString() === wanted)?.['frame']; // biome-ignore format: one row
      return frame && unframe(frame, frame.length, 0);
    };
    const behind = new Map<number, number>();
    for (const shard of new Set(states.map((row) => Number(row['shard'])))) {
      const manifest = state(shard, MANIFEST_KEY);
      if (manifest === undefined) continue;
      const folder = segmentsFolder(Number(state(shard, SEGMENTS_STATE)?.toString() ?? '0'));
      const names = new Set(stored.filter((row) => Number(row['shard']) === shard).map((row) => row['name']));
      const missing = decodeManifest(manifest).files.filter(({ id }) => !names.has(`${folder}/${fileName(id)}`));
      if (missing.length > 0) behind.set(shard, missing.length);
    }
    return behind;
  } catch (error) {
    throw databaseError('the segments in the database cannot be read', error);
  }
}
