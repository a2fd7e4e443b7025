import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { bytesOf, type Cell, literalOf, numberOf, readRows } from './binary-rows.ts';
import { Database, type Sql } from './database.ts';

const VALUES: readonly (readonly [number, number, Buffer | null])[] = [
  [0, 0, Buffer.alloc(0)],
  [1, -1, Buffer.from('\\x41 is text, \0 is a byte')],
  [Number.MAX_SAFE_INTEGER, 2 ** 31 - 1, null],
  [-(2 ** 40), -(2 ** 31), Buffer.from(Uint8Array.from({ length: 70_000 }, (_, i) => i * 7))],
];
const SELECT = 'SELECT long, short, content FROM cells ORDER BY place';

async function tableOf(t: TestContext): Promise<Database | undefined> {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await database.ask((sql) => sql`CREATE TABLE cells (place int4, long int8, short int4, content bytea)`);
  for (const [place, [long, short, content]] of VALUES.entries()) {
    const bytes = content === null ? 'NULL' : literalOf(content);
    await database.ask((sql) => sql.unsafe(`INSERT INTO cells VALUES (${place}, ${long}, ${short}, ${bytes})`));
  }
  return database;
}

const read = (rows: readonly (readonly Cell[])[]): unknown =>
  rows.map(([long, short, content]) => [
    numberOf(long),
    numberOf(short),
    content === null ? null : Buffer.from(bytesOf(content)),
  ]);

test('rows come as they are in the table', async (t) => {
  const database = await tableOf(t);
  if (database === undefined) return;
  assert.deepEqual(read(await readRows(database, SELECT)), VALUES);
  assert.equal((await readRows(database, `${SELECT} LIMIT 0`)).length, 0);
});

test('several reads at once, and other statements after one that fails, are answered', async (t) => {
  const database = await tableOf(t);
  if (database === undefined) return;
  const many = await Promise.all(Array.from({ length: 30 }, () => readRows(database, SELECT)));
  for (const rows of many) assert.deepEqual(read(rows), VALUES);
  await assert.rejects(readRows(database, 'SELECT 1 / 0'), /division by zero/);
  assert.deepEqual(read(await readRows(database, SELECT)), VALUES);
});

test('a database without binary cursors gives the same rows, and is asked for a cursor once', async (t) => {
  const database = await tableOf(t);
  if (database === undefined) return;
  let cursors = 0;
  const refusing = {
    ask: <T>(ask: (sql: Sql) => Promise<T>): Promise<T> =>
      database.ask((sql) =>
        ask(
          new Proxy(sql, {
            get: (target, name) => {
              if (name !== 'unsafe') return Reflect.get(target, name);
              return (text: string) => {
                if (text.startsWith('DECLARE')) cursors += 1;
                // A syntax error, as of a database that does not know the word.
                return target.unsafe(text.replace('BINARY', 'BINARY?'));
              };
            },
          }),
        ),
      ),
  } as unknown as Database;
  for (let i = 0; i < 3; i++) assert.deepEqual(read(await readRows(refusing, SELECT)), VALUES);
  assert.equal(cursors, 1);
});

test('a statement that is at fault does not take the cursors from the database', async (t) => {
  const database = await tableOf(t);
  if (database === undefined) return;
  await assert.rejects(readRows(database, 'SELECT nothing FROM cells'), /nothing/);
  const [row] = await readRows(database, SELECT);
  assert.ok(Buffer.isBuffer(row?.[0]), 'the number came as bytes');
});
