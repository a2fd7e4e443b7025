// A disk damages a node's copy of a shard whose truth is in PostgreSQL. The copy is filled again, and nothing is missing then.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { COPY_AGAIN_TIMES_MAX } from '../../src/engine/base/limits.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { LeaseTable } from '../../src/engine/log/postgres/lease-table.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { decodeRecord } from '../../src/engine/record/record-codec.ts';
import { eventually } from '../support/eventually.ts';
import { embedAll, nearest } from '../support/letters.ts';
import { testDatabase } from '../support/postgres.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const LEASE_MS = 60_000;
/** With embeddings of so many letters, as of test/support/letters.ts. */
const GRAINS = 40;
const context = contextOf(1);

interface Filled {
  readonly hashes: readonly string[];
  /** Sequence numbers of the grains. The first half is sealed. */
  readonly grains: readonly number[];
}

class Place {
  readonly directory: string;
  readonly database: Database;
  readonly leases = LeaseTable.of(1);
  readonly #root: string;
  readonly #url: string;

  static async of(t: TestContext): Promise<Place | undefined> {
    const found = await testDatabase(t);
    if (found === undefined) return undefined;
    const database = await Database.open(found.url);
    t.after(() => database.close());
    await migrate(database, 1);
    return new Place(temporaryDirectory(t), found.url, database);
  }

  private constructor(root: string, url: string, database: Database) {
    this.#root = root;
    this.#url = url;
    this.database = database;
    this.directory = join(root, 'shard-0');
  }

  open(): Promise<Engine> {
    const database = { url: this.#url, node: 'a', leaseMs: LEASE_MS, leases: this.leases.buffer };
    return openShard(this.#root, { database, sealVectors: 8 });
  }

  /** Adds grains with vectors, half of them sealed. */
  async fill(engine: Engine): Promise<Filled> {
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
    const hashes: string[] = [];
    for (let i = 0; i < GRAINS; i++) {
      hashes.push(await addBelief(engine, 1, { subject: `s${i}`, object: `thing ${i}` }));
      if (i + 1 === GRAINS / 2) await engine.write('flush', context, {});
    }
    await embedAll(engine);
    await until(engine, () => !engine.maintain(5));
    await engine.store.uploads?.settle();
    const grains: number[] = [];
    for (const item of engine.store.log.scan(1))
      if ('bytes' in item && decodeRecord(item.bytes).kind === 'grain') grains.push(item.sequence);
    return { hashes, grains };
  }

  async recordOf(sequence: number): Promise<Buffer> {
    const [row] = await this.database.ask(
      (sql) => sql`SELECT frame FROM granary_records WHERE shard = 0 AND sequence = ${sequence}`,
    );
    return row?.['frame'];
  }

  /** Of the record, in the copy. The copy has it a second after it was written. */
  async damageRecord(sequence: number, before?: (frame: Buffer) => Promise<void>): Promise<void> {
    const frame = await this.recordOf(sequence);
    await eventually('the copy has the record', () => readFileSync(this.#dataFile).includes(frame));
    await before?.(frame);
    this.#damageFrame(frame);
  }

  async damageState(): Promise<void> {
    const rows = await this.database.ask(
      (sql) => sql`SELECT frame FROM granary_state WHERE shard = 0 AND key LIKE 'memory/%'`,
    );
    const frame: Buffer = rows[0]?.['frame'];
    this.#damageFrame(frame);
  }

  #damageFrame(frame: Buffer): void {
    damageFrames(this.#dataFile, [frame]);
  }

  damagePage(): void {
    flip(this.#dataFile, 2 * 4096 + 18);
    flip(this.#dataFile, 3 * 4096 + 18);
  }

  damageFile(folder: string, suffix: string, at: number): void {
    const name = readdirSync(join(this.directory, folder)).find((one) => one.endsWith(suffix));
    assert.ok(name !== undefined, `there is a file in ${folder}`);
    flip(join(this.directory, folder, name), at);
  }

  get #dataFile(): string {
    return join(this.directory, 'log', 'data.mdb');
  }
}

/** Inverts a byte; `at` counts from the end where it is negative. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  const descriptor = openSync(path, 'r+');
  writeSync(descriptor, Buffer.from([bytes[place]! ^ 0xff]), 0, 1, place);
  closeSync(descriptor);
}

/** Free pages have a frame too, as it was before. */
function damageFrames(path: string, frames: readonly Buffer[]): void {
  const bytes = readFileSync(path);
  for (const frame of frames) {
    let at = bytes.indexOf(frame);
    assert.notEqual(at, -1, 'the copy has what is damaged');
    for (; at !== -1; at = bytes.indexOf(frame, at + 1)) flip(path, at + frame.length - 5);
  }
}

const reasonsOf = (engine: Engine): readonly string[] => engine.read('health', context, undefined as never).reasons;

async function unreadable(engine: Engine, hashes: readonly string[]): Promise<string[]> {
  const codes = await Promise.all(hashes.map((hash) => codeOf(() => engine.read('get', context, { hash }))));
  return codes.filter((code) => code !== undefined);
}

/** Everything is found, by its hash and by words, and nothing on the disk is damaged. */
async function assertWhole(engine: Engine, { hashes }: Filled): Promise<void> {
  assert.deepEqual(await unreadable(engine, hashes), []);
  assert.deepEqual(recalled(engine, 1, 'thing').sort(), [...hashes].sort());
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, []);
  assert.deepEqual(await embedAll(engine), [], 'no vector was lost');
  assert.equal(engine.store.log.damaged, undefined);
}

type Damage = (place: Place, filled: Filled) => Promise<void> | void;

const DAMAGES: readonly (readonly [string, Damage])[] = [
  ['a record that is replayed', (place, { grains }) => place.damageRecord(grains.at(-3)!)],
  ['a value of the state', (place) => place.damageState()],
  ['a page', (place) => place.damagePage()],
  ['the directory of a segment', (place) => place.damageFile('segments', '.seg', -60)],
  ['the directory of a file of vectors', (place) => place.damageFile('vectors', '.vec', -60)],
];

for (const [name, damage] of DAMAGES)
  test(`a copy of a node that was stopped is filled again at its start: ${name}`, async (t) => {
    const place = await Place.of(t);
    if (place === undefined) return;
    const first = await place.open();
    const filled = await place.fill(first);
    await first.abandon();
    await damage(place, filled);
    const second = await place.open();
    await assertWhole(second, filled);
    assert.ok(
      second.store.index.sealedSequence >= filled.grains[GRAINS / 2 - 1]!,
      'sealed grains are not indexed again',
    );
    const told = reasonsOf(second).filter((reason) => !/filled again from the database/.test(reason));
    assert.deepEqual(told, []);
    await second.close();
  });

test('a disk that damages its copy at every start keeps no shard closed, and health says that it may be failing', async (t) => {
  const place = await Place.of(t);
  if (place === undefined) return;
  let engine = await place.open();
  const filled = await place.fill(engine);
  for (let start = 1; start <= COPY_AGAIN_TIMES_MAX + 2; start++) {
    await engine.abandon();
    await place.damageState();
    engine = await place.open();
    const told = reasonsOf(engine).join('\n');
    assert.match(told, /filled again from the database/);
    assert.equal(/may be failing/.test(told), start > COPY_AGAIN_TIMES_MAX, `start ${start}: ${told}`);
  }
  await assertWhole(engine, filled);
  await place.damageRecord(filled.grains[3]!);
  assert.deepEqual(await unreadable(engine, filled.hashes), ['STO-E001']);
  for (let turn = 0; turn < 20; turn++) engine.maintain(5);
  assert.equal(place.leases.isSpoiled(0), false, 'while it serves, it is left as it is');
  assert.match(reasonsOf(engine).join('\n'), new RegExp(`record ${filled.grains[3]} is quarantined`));
  await engine.close();
});

const RUNNING: readonly (readonly [string, Damage])[] = [
  ['a record that is sealed', (place, { grains }) => place.damageRecord(grains[3]!)],
  ['a block of a segment', (place) => place.damageFile('segments', '.seg', 60)],
  ['a block of a file of vectors', (place) => place.damageFile('vectors', '.vec', 60)],
];

for (const [name, damage] of RUNNING)
  test(`a copy is filled again while its node goes on: ${name}`, async (t) => {
    const place = await Place.of(t);
    if (place === undefined) return;
    const first = await place.open();
    const filled = await place.fill(first);
    await first.close();
    const second = await place.open();
    const hashes = [...filled.hashes];
    await damage(place, filled);
    assert.deepEqual(await embedAll(second), []);
    const missing = await unreadable(second, filled.hashes);
    assert.ok(missing.length <= GRAINS / 2, 'the others are read');
    recalled(second, 1, 'thing');
    nearest(second, 1, 'thing');
    await until(second, () => place.leases.isSpoiled(0));
    // A plan must see everything, so a memory with a damaged segment takes nothing for that moment.
    const late = { subject: 'late', object: 'thing late' };
    const code = await codeOf(async () => {
      hashes.push(await addBelief(second, 1, late));
    });
    assert.equal(code, /segment/.test(name) ? 'STO-E001' : undefined);
    // Nor does its trail.
    const told = reasonsOf(second).filter((reason) => !/segment/.test(name) || !/reads are missing/.test(reason));
    assert.deepEqual([told.length, /filled again from the database/.test(told[0] ?? '')], [1, true], told.join('; '));
    await second.close();
    const third = await place.open();
    await embedAll(third);
    await assertWhole(third, { ...filled, hashes });
    assert.deepEqual(reasonsOf(third), told, 'the same text, so that it is logged once');
    assert.equal(existsSync(join(place.directory, 'log.again')), false);
    await third.close();
  });

test('a record that the database has damaged too is quarantined, and the copy is not filled again for it', async (t) => {
  const place = await Place.of(t);
  if (place === undefined) return;
  const first = await place.open();
  const filled = await place.fill(first);
  const damaged = filled.grains[3]!;
  await place.damageRecord(damaged, async (frame) => {
    // The database first: from a sound one, the copy could be filled again at any moment.
    const broken = Buffer.from(frame);
    broken[broken.length - 5]! ^= 1;
    await place.database.ask(
      (sql) => sql`UPDATE granary_records SET frame = ${broken} WHERE shard = 0 AND sequence = ${damaged}`,
    );
  });
  assert.deepEqual(await unreadable(first, filled.hashes), ['STO-E001']);
  await until(first, () => /so is the log in the database/.test(reasonsOf(first).join('\n')));
  assert.match(reasonsOf(first).join('\n'), new RegExp(`record ${damaged} is quarantined`));
  assert.equal(place.leases.isSpoiled(0), false);
  await first.close();
  const second = await place.open();
  assert.deepEqual(await unreadable(second, filled.hashes), ['STO-E001']);
  for (let turn = 0; turn < 20; turn++) second.maintain(5);
  assert.equal(place.leases.isSpoiled(0), false);
  assert.match(reasonsOf(second).join('\n'), new RegExp(`record ${damaged} is quarantined`));
  await second.close();
});

const SERVERS: readonly (readonly [string, readonly string[], RegExp])[] = [
  [
    'a node of several',
    ['--node-listen', '127.0.0.1:0'],
    /this node has taken a shard[\s\S]*this node has taken a shard/,
  ],
  ['the only node', [], /the shard was reopened from the database/],
];

for (const [name, flags, isFilledAgain] of SERVERS)
  test(`${name} whose disk damages records goes on, refuses nothing, and logs it once`, async (t) => {
    const found = await testDatabase(t);
    if (found === undefined) return;
    const directory = join(temporaryDirectory(t), 'a');
    const key = `gr_${'ab'.repeat(32)}`;
    const started = await startServerProcess({
      directory,
      // A process that gets no processor for seconds keeps its lease.
      flags: ['--shards', '1', '--workers', '1', '--store-lease-ms', '60000', ...flags],
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: 'c0ffee0123456789'.repeat(4), GRANARY_BOOTSTRAP_KEY: key },
    });
    const server = { ...started, key };
    t.after(() => server.kill());
    const add = (i: number) =>
      ask(server, 'POST', '/memories/default/add', {
        grain_type: 'belief',
        fields: { subject: `s${i}`, relation: 'is', object: `thing ${i}` },
      });
    await eventually('the node has its shard', async () => (await add(0)).status < 300);
    const hashes: string[] = [];
    for (let i = 1; i <= GRAINS; i++) hashes.push((await add(i)).body.blob_hash);
    const database = await Database.open(found.url);
    t.after(() => database.close());
    const rows = await database.ask(
      (sql) => sql`SELECT frame FROM granary_records WHERE shard = 0 ORDER BY length(frame) DESC LIMIT ${GRAINS}`,
    );
    const frames = rows.map((row) => row['frame'] as Buffer);
    assert.equal(frames.length, GRAINS);
    const path = join(directory, 'shard-0', 'log', 'data.mdb');
    await eventually('the copy has the records', () => frames.every((frame) => readFileSync(path).includes(frame)));
    // All are damaged before it can find one: it would fill its copy again twice.
    server.child.kill('SIGSTOP');
    damageFrames(path, frames);
    server.child.kill('SIGCONT');
    let isOver = false;
    const refused: unknown[] = [];
    const load = (async () => {
      for (let i = 1_000; !isOver; i++) {
        const { status, body } = await add(i);
        if (status >= 300) refused.push(body);
        else hashes.push(body.blob_hash);
      }
    })();
    const get = (hash: string) => ask(server, 'GET', `/memories/default/grains/${hash}`);
    const isAllThere = async () =>
      (await Promise.all(hashes.slice(0, GRAINS).map(get))).every(({ status }) => status === 200);
    // Grains that were opened before are in memory still.
    await ask(server, 'POST', '/memories/default/app/exec', { command: 'verify', args: {} });
    await eventually('the copy was filled again', () => isFilledAgain.test(server.output()));
    await eventually('all grains are there', isAllThere);
    isOver = true;
    await load;
    assert.deepEqual(refused, []);
    const verified = await ask(server, 'POST', '/memories/default/app/exec', { command: 'verify', args: {} });
    assert.equal(verified.body.result?.finding_count, 0, JSON.stringify(verified.body));
    const chain = await ask(server, 'POST', '/memories/default/app/exec', { command: 'verify_audit_chain', args: {} });
    assert.equal(chain.body.result?.valid, true);
    for (const hash of hashes) assert.equal((await get(hash)).status, 200);
    await eventually('it is logged', () => /filled again from the database/.test(server.output()));
    assert.equal(server.output().match(/filled again from the database/g)?.length, 1);
    assert.equal(await server.stop(), 0);
  });
