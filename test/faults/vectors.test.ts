// Vector files changed behind the engine's back: recall continues, damage is named, and lost vectors are computed
// again.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Engine } from '../../src/engine/engine.ts';
import { packVectors } from '../../src/engine/index/vectors/transfer.ts';
import { embedAll, LETTERS, lettersOf, nearest } from '../support/letters.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MEMORIES = [1, 2] as const;
const WORDS = ['aaaa', 'bbbb', 'cccc', 'dddd', 'eeee', 'ffff'];

const objectOf = (word: string, memory: number): string => `${word} ${'yz'.repeat(memory)}`;

/** Two memories with vectors in two files each, closed. */
async function filled(t: TestContext): Promise<{ root: string; files: string[] }> {
  const root = temporaryDirectory(t);
  for (const half of [WORDS.slice(0, 3), WORDS.slice(3)]) {
    const engine = await openShard(root);
    for (const memory of MEMORIES) {
      await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
      for (const word of half) await addBelief(engine, memory, { subject: 's', object: objectOf(word, memory) });
    }
    await embedAll(engine);
    await engine.close();
  }
  const directory = join(root, 'shard-0', 'vectors');
  const files = readdirSync(directory).map((name) => join(directory, name));
  assert.equal(files.length, 2);
  return { root, files: files.sort() };
}

const vectorsIn = (engine: Engine, memory: number): number => engine.read('statistics', contextOf(memory), {}).vectors!;

async function findings(engine: Engine): Promise<string[]> {
  const { findings } = await engine.write('verify', contextOf(0), {});
  return findings.map(({ kind, where, problem }) => `${kind} ${where}: ${problem}`);
}

/** A recall with a vector answers, whatever is lost, and finds grains that have a vector. */
function ask(engine: Engine): void {
  for (const memory of MEMORIES)
    for (const word of WORDS) {
      const question = { query: word, filter: {}, limit: 3, candidateLimit: 100, structural: false };
      const vector = { bytes: packVectors([lettersOf(word)]), of: word, embedder: LETTERS.name };
      const { hits } = engine.read('recall', contextOf(memory), { ...question, vector });
      assert.equal(hits[0]?.grain.fields['object'], objectOf(word, memory));
    }
}

/** Computes lost vectors again; afterwards everything is there, now and after a restart. */
async function heal(engine: Engine, root: string): Promise<void> {
  await embedAll(engine);
  for (const memory of MEMORIES) assert.equal(vectorsIn(engine, memory), WORDS.length);
  ask(engine);
  await engine.close();
  const next = await openShard(root);
  try {
    assert.deepEqual(await embedAll(next), [], 'nothing is embedded twice');
    assert.deepEqual(await findings(next), []);
    assert.deepEqual(next.read('health', contextOf(0), {}).reasons, []);
    for (const memory of MEMORIES) assert.equal(vectorsIn(next, memory), WORDS.length);
  } finally {
    await next.close();
  }
}

const DAMAGES: readonly { name: string; lost: number; named: RegExp; act: (path: string) => void }[] = [
  { name: 'with a wrong byte in a block', lost: 3, named: /checksum/, act: (path) => flip(path, 60) },
  { name: 'with a wrong byte in its directory', lost: 6, named: /directory checksum/, act: (path) => flip(path, -60) },
  { name: 'cut short', lost: 6, named: /quarantined/, act: (path) => truncateSync(path, 100) },
  { name: 'emptied', lost: 6, named: /too short/, act: (path) => truncateSync(path, 0) },
  {
    name: 'of something else',
    lost: 6,
    named: /no file of vectors/,
    act: (path) => writeFileSync(path, 'x'.repeat(500)),
  },
];

for (const { name, lost, named, act } of DAMAGES)
  for (const which of [0, 1])
    test(`a file of vectors ${name} (${which === 0 ? 'the first' : 'the last'}) is named and rebuilt`, async (t) => {
      const { root, files } = await filled(t);
      act(files[which]!);
      const engine = await openShard(root);
      ask(engine);
      const { ok, reasons } = engine.read('health', contextOf(0), {});
      assert.ok(ok, 'the shard serves');
      assert.ok(
        reasons.some((reason) => named.test(reason)),
        reasons.join('; '),
      );
      assert.ok((await findings(engine)).some((finding) => finding.startsWith('vectors ') && named.test(finding)));
      const embedded = await embedAll(engine);
      assert.equal(embedded.length, lost, 'only lost vectors are embedded again');
      await heal(engine, root);
    });

test('a missing file of vectors is rebuilt', async (t) => {
  const { root, files } = await filled(t);
  rmSync(files[0]!);
  const engine = await openShard(root);
  ask(engine);
  assert.equal((await embedAll(engine)).length, 6);
  await heal(engine, root);
});

test('damage that a recall finds is embedded again without a restart', async (t) => {
  const { root, files } = await filled(t);
  const engine = await openShard(root);
  assert.deepEqual(await embedAll(engine), []);
  flip(files[0]!, 60);
  ask(engine);
  assert.ok(engine.read('vectorState', contextOf(1), {}).lag > 0, 'it waits to be embedded');
  assert.equal((await embedAll(engine)).length, 3);
  await heal(engine, root);
});

test('verify finds vectors that belong to no grain of their memory', async (t) => {
  const { root } = await filled(t);
  const engine = await openShard(root);
  assert.deepEqual(await findings(engine), []);
  engine.store.vectors.use(1, LETTERS);
  engine.store.vectors.add(1, 1, [lettersOf('a record of settings')]);
  await engine.close();
  const next = await openShard(root);
  const [finding, ...more] = await findings(next);
  assert.deepEqual(more, []);
  assert.match(finding!, /^vectors vectors-\d+\.vec memory 1: a vector of 1, which is not a grain of the memory$/);
  await next.close();
});

test('rebuild_indexes rebuilds the vectors of its memory, and of no other', async (t) => {
  const { root } = await filled(t);
  const engine = await openShard(root);
  assert.deepEqual(await embedAll(engine), []);
  const { grainsScanned, vectorsIndexed } = await engine.write('rebuildIndexes', contextOf(1), {});
  assert.deepEqual({ grainsScanned, vectorsIndexed }, { grainsScanned: 6, vectorsIndexed: 0 });
  assert.deepEqual([vectorsIn(engine, 1), vectorsIn(engine, 2)], [0, 6]);
  assert.equal(engine.read('statistics', contextOf(1), {}).indexLag, 6);
  assert.equal((await embedAll(engine)).length, 6);
  await heal(engine, root);
});

test('a backup includes vectors that are in no file yet', async (t) => {
  const { root } = await filled(t);
  const engine = await openShard(root);
  await addBelief(engine, 1, { subject: 's', object: objectOf('gggg', 1) });
  await embedAll(engine);
  const copy = temporaryDirectory(t);
  const keysDirectory = join(copy, 'keys', 'shard-0');
  mkdirSync(keysDirectory, { recursive: true });
  await engine.write('backup', contextOf(0), { dataDirectory: join(copy, 'shard-0'), keysDirectory });
  await engine.close();
  const restored = await openShard(copy);
  assert.deepEqual(await embedAll(restored), []);
  assert.equal(vectorsIn(restored, 1), WORDS.length + 1);
  const hit = restored.read('get', contextOf(1), { hash: nearest(restored, 1, 's says gggg yz')! });
  assert.equal(hit.fields['object'], objectOf('gggg', 1));
  await restored.close();
});

test('vectors next to an older log are not taken for those of new grains', async (t) => {
  const { root } = await filled(t);
  const older = join(temporaryDirectory(t), 'log');
  cpSync(join(root, 'shard-0', 'log'), older, { recursive: true });
  let engine = await openShard(root);
  await addBelief(engine, 1, { subject: 's', object: 'qqqq' });
  await embedAll(engine);
  await engine.close();
  renameSync(join(root, 'shard-0', 'log'), join(root, 'shard-0', 'newer'));
  cpSync(older, join(root, 'shard-0', 'log'), { recursive: true });
  engine = await openShard(root);
  assert.ok(
    engine.read('health', contextOf(0), {}).reasons.some((reason) => reason.includes('the log knows nothing of')),
  );
  const hash = await addBelief(engine, 1, { subject: 's', object: 'xxxxxxxx' });
  await embedAll(engine);
  const [{ ordinal, cosine } = assert.fail()] = engine.store.vectors.search(1, lettersOf('xxxxxxxx'), { limit: 1 });
  assert.ok(engine.store.addressAt(ordinal) === hash && cosine > 0.5);
  assert.equal(vectorsIn(engine, 1), WORDS.length + 1);
  await engine.close();
});

function flip(path: string, offset: number): void {
  const bytes = readFileSync(path);
  bytes[offset < 0 ? bytes.length + offset : offset]! ^= 0x10;
  writeFileSync(path, bytes);
}
