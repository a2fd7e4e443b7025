// Files changed behind the engine's back: damage is named, indexes are rebuilt, no answer is wrong, and everything else
// continues.
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { SLOT_BYTES, slotOffset } from '../../src/engine/keys/slot.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { codeOf, contextOf, openFaultyShard, openShard, settingsOf, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const GRAINS = 40;
const STAMP = { shard: 0, shards: 1 };

/** Two memories of one shard, with users, sealed: hashes by memory. */
async function fill(root: string): Promise<Map<number, string[]>> {
  const engine = await openShard(root);
  const hashes = new Map<number, string[]>();
  for (const memory of [1, 2]) {
    const context = contextOf(memory);
    await engine.write('attachMemory', context, { settings: settingsOf(memory) });
    const items = Array.from({ length: GRAINS }, (_, i) => ({
      grainType: 'belief',
      fields: {
        subject: `s${i}`,
        relation: 'says',
        object: `word${i} of memory${memory} at the harbour`,
        ...(i % 2 === 0 ? {} : { user_id: `u${i % 4}` }),
      },
    }));
    const { outcomes } = await engine.write('addBatch', context, { items });
    hashes.set(
      memory,
      outcomes.map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(outcome.error.message))),
    );
  }
  await engine.close();
  return hashes;
}

/** A fresh folder with the shard from `fill`. */
async function filled(t: TestContext): Promise<{ copy: () => string; hashes: Map<number, string[]> }> {
  const root = temporaryDirectory(t);
  const model = join(root, 'model');
  const hashes = await fill(model);
  let copies = 0;
  return {
    hashes,
    copy: () => {
      const to = join(root, `copy-${++copies}`);
      cpSync(model, to, { recursive: true });
      return to;
    },
  };
}

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset]! ^= 0x10;
  writeFileSync(path, bytes);
}

const STORAGE = new Set([undefined, 'STO-E001']);

/** Requests everything: each answer is right, or refused as a storage failure. Returns the number of refusals. */
async function lookAt(engine: Engine, hashes: Map<number, string[]>): Promise<number> {
  let refused = 0;
  for (const [memory, of] of hashes)
    for (const [i, hash] of of.entries()) {
      const code = await codeOf(() => {
        // As an anonymous caller, because entries of reads do not count here.
        const { fields } = engine.read('get', { ...contextOf(memory), actor: 'system' }, { hash });
        assert.equal(fields['object'], `word${i} of memory${memory} at the harbour`);
      });
      assert.ok(STORAGE.has(code), `grain ${i} of memory ${memory} answers ${code}`);
      if (code !== undefined) refused += 1;
    }
  return refused;
}

/** All grains are found by address and by words, writes continue, and a full check finds nothing. */
async function assertWhole(engine: Engine, hashes: Map<number, string[]>): Promise<void> {
  assert.equal(await lookAt(engine, hashes), 0);
  for (const memory of hashes.keys()) {
    const context = contextOf(memory);
    const query = { filter: {}, structural: false, limit: 500, candidateLimit: 2_500 };
    assert.equal(engine.read('recall', context, { ...query, query: 'harbour' }).hits.length, GRAINS);
    const item = {
      grainType: 'belief',
      fields: { subject: 's3', relation: 'says', object: 'and more', user_id: 'u3' },
    };
    await engine.write('add', context, { ...item, sync: false });
    assert.deepEqual(await engine.write('verifyAudit', context, {}), {
      valid: true,
      checked: GRAINS + 2,
      partition: 0,
    });
    // One key per user: no second key was made because the first was not seen.
    assert.equal(engine.read('statistics', context, {}).userCount, 2);
  }
  // Problems found at open are reported until the shard is opened again.
  const { findings } = await engine.write('verify', contextOf(0), {});
  assert.deepEqual(
    findings.filter(({ where }) => where !== 'index'),
    [],
  );
}

/** Opens a damaged copy: no answer is wrong, all are right after the repair, and the file is named. */
async function assertRepairs(root: string, hashes: Map<number, string[]>, what: string): Promise<void> {
  const engine = await openShard(root);
  try {
    await lookAt(engine, hashes);
    for (const memory of hashes.keys()) {
      const code = await codeOf(() =>
        engine.write('forget', contextOf(memory), { subject: 'nobody', check: false }).then(() =>
          engine.read('recall', contextOf(memory), {
            query: 'harbour',
            filter: {},
            structural: false,
            limit: 9,
            candidateLimit: 9,
          }),
        ),
      );
      assert.ok(STORAGE.has(code), `${what}: a write answers ${code}`);
    }
    await engine.write('verify', contextOf(0), {});
    await until(engine, () => !engine.store.index.damaged);
    const { ok, reasons } = engine.read('health', contextOf(0), {});
    assert.ok(ok && reasons.some((reason) => reason.includes('.seg')), `${what} is named: ${reasons.join()}`);
    await assertWhole(engine, hashes);
  } finally {
    await engine.close();
  }
}

test('a flipped byte anywhere in a segment is found, named and rebuilt from the log', async (t) => {
  const { copy, hashes } = await filled(t);
  const probe = copy();
  const [name] = readdirSync(join(probe, 'shard-0', 'segments'));
  const { length } = readFileSync(join(probe, 'shard-0', 'segments', name!));
  // The header, both chunks, the directory and the footer.
  const offsets = [3, 20, ...[0.1, 0.3, 0.45, 0.55, 0.7, 0.9].map((part) => Math.floor(part * length))];
  for (const offset of [...offsets, length - 70, length - 30, length - 3]) {
    const root = copy();
    flip(join(root, 'shard-0', 'segments', name!), offset);
    await assertRepairs(root, hashes, `a flip at ${offset} of ${length}`);
  }
});

test('a segment that was truncated, emptied or deleted is rebuilt from the log', async (t) => {
  const { copy, hashes } = await filled(t);
  for (const part of [0.99, 0.5, 0, undefined]) {
    const root = copy();
    const directory = join(root, 'shard-0', 'segments');
    const path = join(directory, readdirSync(directory)[0]!);
    if (part === undefined) rmSync(path);
    else truncateSync(path, Math.floor(part * readFileSync(path).length));
    await assertRepairs(root, hashes, `cut to ${part}`);
  }
});

test('a record that changed is quarantined and named, and every other grain is served', async (t) => {
  const { copy, hashes } = await filled(t);
  const context = contextOf(1);
  for (const how of ['corrupt', 'flip'] as const) {
    const { engine, log } = await openFaultyShard(copy());
    const hash = hashes.get(1)![7]!;
    const ordinal = engine.store.findOrdinal(1, hash)!;
    if (how === 'corrupt') log.corrupt(ordinal);
    else log.flipByte(ordinal, log.read(ordinal)!.length - 5);
    assert.notEqual(await codeOf(() => engine.read('get', context, { hash })), undefined, how);
    const query = { query: 'harbour', filter: {}, structural: false, limit: 500, candidateLimit: 2_500 };
    assert.equal(engine.read('recall', context, query).hits.length, GRAINS - 1, how);
    const { ok, reasons } = engine.read('health', context, {});
    assert.ok(ok && reasons.some((reason) => reason.includes(`record ${ordinal}`)), reasons.join());
    const { findings } = await engine.write('verify', contextOf(0), {});
    assert.ok(
      findings.some(({ where }) => where.includes(`sequence ${ordinal}`)),
      JSON.stringify(findings),
    );
    log.heal();
    await engine.close();
  }
});

test('a damaged key affects only what it opens, is named, and comes back with its file', async (t) => {
  const { copy, hashes } = await filled(t);
  const bucketOf = (root: string): string => {
    const directory = join(root, 'keys', 'shard-0');
    return join(directory, readdirSync(directory).find((name) => name.endsWith('.keys'))!);
  };
  const probe = await openShard(copy());
  const { keyIds } = probe.store.memory(1);
  const user = probe.store.namedKeys.user(probe.store.memory(1), 'u1')!.key;
  await probe.close();
  for (const [kind, id] of [...Object.entries(keyIds), ['user', user] as const]) {
    const root = copy();
    const path = bucketOf(root);
    const whole = readFileSync(path);
    flip(path, slotOffset(id) + SLOT_BYTES - 9);
    let engine = await openShard(root);
    // The shard's other memory is not affected.
    assert.equal(await lookAt(engine, new Map([[2, hashes.get(2)!]])), 0, kind);
    let refused = 0;
    for (const hash of hashes.get(1)!)
      if ((await codeOf(() => engine.read('get', contextOf(1), { hash }))) !== undefined) refused += 1;
    assert.ok(refused > 0 && (kind !== 'user' || refused < GRAINS / 2), `${kind}: ${refused} refused`);
    const item = { grainType: 'belief', fields: { subject: 'x', relation: 'is', object: 'new', user_id: 'u1' } };
    await codeOf(() => engine.write('add', contextOf(1), { ...item, sync: false }));
    await engine.write('add', contextOf(2), { ...item, sync: false });
    const { findings } = await engine.write('verify', contextOf(0), {});
    assert.ok(
      findings.some((finding) => finding.kind === 'key' && finding.where === `key ${id}`),
      JSON.stringify(findings),
    );
    await engine.close();

    // Only the slot is restored, because keys may have been created meanwhile.
    const now = readFileSync(path);
    whole.copy(now, slotOffset(id), slotOffset(id), slotOffset(id) + SLOT_BYTES);
    writeFileSync(path, now);
    engine = await openShard(root);
    await engine.write('rebuildIndexes', contextOf(1), {});
    assert.equal(await lookAt(engine, hashes), 0, `${kind}, after its slot was restored`);
    await engine.close();
  }
});

test('a file of a newer format is refused by name', async (t) => {
  const { copy } = await filled(t);
  const stamped = join(temporaryDirectory(t), 'log');
  await openLmdbLog(stamped, { stamp: { ...STAMP, formatVersion: FORMAT_VERSION + 1 } }).close();
  assert.throws(
    () => openLmdbLog(stamped, { stamp: { ...STAMP, formatVersion: FORMAT_VERSION } }),
    (error: Error & { code?: string }) => error.code === 'STO-E001' && /format/.test(error.message),
  );
  const root = copy();
  rmSync(join(root, 'shard-0', 'log'), { recursive: true });
  cpSync(stamped, join(root, 'shard-0', 'log'), { recursive: true });
  await assert.rejects(openShard(root), { code: 'STO-E001' });
});
