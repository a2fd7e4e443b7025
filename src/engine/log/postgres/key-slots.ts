// The slots of a shard's keys in the database. Appends write them (append-statement.ts).
import type { Database } from './database.ts';
import { PageReader } from './pages.ts';

interface Row {
  /** Numbers of 8 bytes come as text. */
  readonly id: string;
  readonly slot: Buffer;
}

/** All slots of the shard, by key id. The caller holds its lease. */
export async function readKeySlots(
  database: Database,
  shard: number,
): Promise<readonly (readonly [id: number, slot: Buffer])[]> {
  const reader = new PageReader(database);
  const slots: (readonly [number, Buffer])[] = [];
  for (let after = 0; ; ) {
    const rows = await reader.page<Row>(
      (asked, limit) =>
        asked.ask(
          (sql) => sql<Row[]>`
            SELECT id, slot FROM granary_keys WHERE shard = ${shard} AND id > ${after} ORDER BY id LIMIT ${limit}`,
        ),
      ({ slot }) => slot.length,
    );
    const last = rows.at(-1);
    if (last === undefined) return slots;
    for (const { id, slot } of rows) slots.push([Number(id), slot]);
    after = Number(last.id);
  }
}
