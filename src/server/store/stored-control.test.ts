import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../../test/support/postgres.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { LogFiller } from '../../engine/log/lmdb/filler.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { Database } from '../../engine/log/postgres/database.ts';
import { migrate } from '../../engine/log/postgres/migrate.ts';
import { openPostgresShard } from '../../engine/log/postgres/postgres-log.ts';
import { type ControlKeys, controlStamp } from '../control/open.ts';
import { closeUnopened, openStoredControl } from './stored-control.ts';

test('a copy of the control log that its disk has damaged is filled again', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const database = await Database.open(found.url);
  await migrate(database, 1);
  await database.close();
  const directory = join(temporaryDirectory(t), 'control');
  const stamp = controlStamp(1);
  const open = () => openPostgresShard(directory, stamp, { url: found.url, node: 'a', leaseMs: 30_000 });
  const first = await open();
  await first.log.append({ records: [Buffer.from('record')], replacements: [], removals: [], state: [] });
  await first.log.close();
  const filler = new LogFiller(directory, stamp);
  await filler.putRecords([[1, Buffer.from('damaged')]]);
  await filler.close();

  const damaged = await open();
  const key = createSecretKey(Buffer.alloc(32, 7));
  const keys: ControlKeys = { key, master: { raw: [], key } as never }; // nothing is opened with it
  const thrown: unknown[] = [];
  try {
    openStoredControl(damaged, keys, systemClock);
  } catch (error) {
    thrown.push(await closeUnopened(directory, damaged, error));
  }
  assert.match(String(thrown[0]), /STO-E001: the control log in the store is damaged/);
  const again = await open();
  assert.deepEqual(
    [...again.log.scan(1)].map((record) => record instanceof CorruptRecord || Buffer.from(record.bytes).toString()),
    ['record'],
  );
  await again.log.close();
});
