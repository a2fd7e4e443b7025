// Bytes changed in the environment itself, under LMDB, in any page: the shard or the affected data is refused by name;
// no answer is wrong, and the process does not crash.
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../src/engine/base/errors.ts';
import { PAGE_BYTES } from '../../src/engine/log/lmdb/environment.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const FLIPS = Number(process.env['PAGE_FLIPS'] ?? 60);

interface Model {
  readonly directory: string;
  /** Objects by hash, by memory. */
  readonly grains: ReadonlyMap<number, ReadonlyMap<string, string>>;
}

/** A shard with trees of two levels, large values, removals, and records that are sealed and that are not. */
async function fill(directory: string): Promise<Model> {
  const engine = await openShard(directory);
  const grains = new Map<number, Map<string, string>>();
  for (const memory of [1, 2]) {
    const context = contextOf(memory);
    const of = new Map<string, string>();
    grains.set(memory, of);
    await engine.write('attachMemory', context, { settings: settingsOf(memory) });
    for (let i = 0; i < 60; i++) {
      const object = `harbour ${memory} ${i} ${'and so on '.repeat(i % 10 === 0 ? 500 : i)}end`;
      of.set(
        await addBelief(engine, memory, { subject: `s${i}`, object, ...(i % 3 === 0 ? { user_id: `u${i % 9}` } : {}) }),
        object,
      );
    }
    for (const hash of [...of.keys()].slice(10, 14)) {
      await engine.write('forget', context, { hashes: [hash], check: false });
      of.delete(hash);
    }
    if (memory === 1) await engine.write('flush', context, {});
  }
  await engine.abandon();
  return { directory, grains };
}

/** The outcome: refused at the start, named while it serves, or without effect. */
type Met = 'refused' | 'named' | 'unseen';

async function meet(directory: string, { grains }: Model): Promise<Met> {
  let engine: Awaited<ReturnType<typeof openShard>>;
  try {
    engine = await openShard(directory);
  } catch (error) {
    assert.ok(error instanceof EngineError, `a code, and not ${error instanceof Error ? error.stack : error}`);
    assert.equal(error.code, 'STO-E001');
    assert.ok(error.message.includes('log'), error.message);
    return 'refused';
  }
  let refused = 0;
  for (const [memory, of] of grains) {
    for (const [hash, object] of of) {
      const code = await codeOf(() =>
        assert.ok(
          engine.read('get', contextOf(memory), { hash }).fields['object'] === object,
          `${hash} has another content`,
        ),
      );
      // Nobody knows the hash of a record that was damaged before it was indexed: it is named by its sequence.
      assert.ok(code === undefined || code === 'STO-E001' || code === 'MEM-E001', `${hash} answers ${code}`);
      if (code !== undefined) refused += 1;
    }
    const code = await codeOf(() => {
      if (recalled(engine, memory, 'harbour').length < of.size) refused += 1;
    });
    assert.ok(code === undefined || code === 'STO-E001', `a recall answers ${code}`);
    const written = await codeOf(() => addBelief(engine, memory, { subject: 'new', object: 'grain' }));
    assert.ok(written === undefined || written === 'STO-E001', `a write answers ${written}`);
  }
  const reports = [
    ...(await engine.write('verify', contextOf(0), {})).findings.map(({ problem }) => problem),
    ...engine.read('health', contextOf(0), {}).reasons,
  ];
  assert.ok(refused === 0 || reports.length > 0, `${refused} answers are missing, and no report names the reason`);
  await engine.close();
  return reports.length > 0 ? 'named' : 'unseen';
}

test('a flipped byte in any page of the environment is described in words', async (t) => {
  const root = temporaryDirectory(t);
  const model = await fill(join(root, 'model'));
  const bytes = readFileSync(join(model.directory, 'shard-0', 'log', 'data.mdb'));
  const seed = Number(process.env['PAGE_SEED'] ?? randomInt(1_000_000));
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * below);
  };
  const flipped = async (at: number, bit: number): Promise<Met> => {
    const copy = join(root, 'copy');
    rmSync(copy, { recursive: true, force: true });
    cpSync(model.directory, copy, { recursive: true });
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << bit;
    writeFileSync(join(copy, 'shard-0', 'log', 'data.mdb'), changed);
    try {
      return await meet(copy, model);
    } catch (error) {
      throw new Error(`bit ${bit} of byte ${at % PAGE_BYTES} of page ${Math.floor(at / PAGE_BYTES)} (seed ${seed})`, {
        cause: error,
      });
    }
  };
  const met = { refused: 0, named: 0, unseen: 0 };
  // Half of them in a page's header and node offsets.
  for (let i = 0; i < FLIPS; i++) {
    const page = i % 8 === 0 ? random(2) : random(bytes.length / PAGE_BYTES);
    const within = i % 2 === 0 ? random(page < 2 ? 160 : 64) : random(PAGE_BYTES);
    met[await flipped(page * PAGE_BYTES + within, random(8))] += 1;
  }
  t.diagnostic(`seed ${seed}: ${JSON.stringify(met)}`);
  assert.ok(met.refused > 0 && met.named + met.unseen > 0);
});
