// Kills a process while it makes vectors with another embedder than before, seals, merges and purges: every grain has
// its vector exactly once, and no erased grain has one.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { writeHalves } from '../../src/engine/index/vectors/half-float.ts';
import { generator } from '../../src/engine/index/vectors/testing.ts';
import { embedAll, embedderOf, lettersOf } from '../support/letters.ts';
import { childFile } from '../support/program.ts';
import { contextOf, openShard, until } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { Acknowledged, VectorChildOptions } from './vector-child.ts';

const CHILD = childFile(join(import.meta.dirname, 'vector-child.ts'));
const LIVES = 5;
const STEPS_MAX = 900;
const MEMORIES = [1, 2] as const;

type Done = Acknowledged & { readonly memory: number };

/** The acts of a child until it was killed. */
function live(options: VectorChildOptions): Promise<{ done: Done[]; signal: NodeJS.Signals | null; stderr: string }> {
  const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const done: Done[] = [];
  let stderr = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('message', (message: Done) => void done.push(message));
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ done, signal, stderr })));
}

const statistics = (engine: Engine, memory: number) => engine.read('statistics', contextOf(memory), {});

test('killed at any step, vectors come back, none twice and none of the erased', { timeout: 600_000 }, async (t) => {
  const root = temporaryDirectory(t);
  const seed = Date.now() % 1_000_000;
  const random = generator(seed);
  const added = new Map<string, { memory: number; object: string; user: string | undefined }>();
  const erased = new Set<string>();
  for (let life = 0; life < LIVES; life++) {
    const steps = 50 + Math.floor(random() * STEPS_MAX);
    const what = `seed ${seed}, life ${life}, ${steps} steps`;
    const { done, signal, stderr } = await live({ root, steps, life });
    assert.equal(signal, 'SIGKILL', `${what}: ${stderr}`);
    for (const one of done)
      if (one.did === 'add') added.set(one.hash, one);
      else erased.add(`${one.memory}/${one.user}`);
    const engine = await openShard(root);
    await checkAfterKill(t, engine, { added, erased, what, life });
    // The next life begins with vectors in files, or with some that are not.
    await (life % 2 === 0 ? engine.close() : engine.abandon());
    lookIntoFiles(root, added, what);
  }
  t.diagnostic(`seed ${seed}: ${added.size} acknowledged, ${erased.size} erased`);
  assert.ok(added.size > 0, `seed ${seed}: some requests were acknowledged`);
});

async function checkAfterKill(
  t: TestContext,
  engine: Engine,
  {
    added,
    erased,
    what,
    life,
  }: {
    added: Map<string, { memory: number; object: string; user: string | undefined }>;
    erased: Set<string>;
    what: string;
    life: number;
  },
): Promise<void> {
  assert.deepEqual(engine.store.vectors.problems, [], `${what}: a kill damages nothing`);
  const before = MEMORIES.reduce((sum, memory) => sum + engine.store.vectors.count(memory), 0);
  const again = await embedAll(engine, { '': embedderOf(life) }, 32);
  t.diagnostic(`${what}: ${before} vectors were in files, ${again.length} were made again`);
  for (const memory of MEMORIES) {
    if (!engine.store.holds(memory)) continue;
    const { totalGrains, vectors, indexLag } = statistics(engine, memory);
    assert.deepEqual({ vectors, indexLag }, { vectors: totalGrains, indexLag: 0 }, `${what}: memory ${memory}`);
  }
  for (const [hash, { memory, object, user }] of added) {
    const ordinal = engine.store.findOrdinal(memory, hash);
    const cosine =
      ordinal === undefined
        ? Number.NaN
        : engine.store.vectors.cosineOf(memory, lettersOf(`s says ${object}`), [ordinal])[0]!;
    if (erased.has(`${memory}/${user}`)) assert.ok(Number.isNaN(cosine), `${what}: ${object} of ${user} was erased`);
    // A user may be erased although the answer did not arrive.
    else if (user === undefined || ordinal !== undefined)
      assert.ok(cosine > 0.999, `${what}: ${object} has its vector`);
  }
  await engine.write('flush', contextOf(1), {});
  await until(engine, () => MEMORIES.every((memory) => !engine.store.purgePending.has(memory)));
  for (const memory of MEMORIES)
    if (engine.store.holds(memory) && engine.store.vectors.keysInUse(memory).size > 0)
      assert.deepEqual([...engine.store.vectors.keysInUse(memory)], [engine.store.memory(memory).keyIds.index], what);
  assert.deepEqual((await engine.write('verify', contextOf(0), {})).findings, [], what);
}

/** No file contains a vector in the clear, of any user. */
function lookIntoFiles(root: string, added: ReadonlyMap<string, { object: string }>, what: string): void {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = files.map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as const);
  for (const { object } of [...added.values()].slice(-20)) {
    const vector = lettersOf(`s says ${object}`);
    const halves = new Uint16Array(vector.length);
    writeHalves(vector, halves, 0);
    for (const [name, bytes] of contents)
      for (const sought of [Buffer.from(vector.buffer), Buffer.from(halves.buffer), Buffer.from(object)])
        assert.equal(bytes.indexOf(sought), -1, `${what}: ${object} in ${name}`);
  }
}
