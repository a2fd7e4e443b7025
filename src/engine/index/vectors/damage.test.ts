// Damaged vector files: whichever byte is wrong, results are correct, and lost vectors are reported and embedded again.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { failingRead } from '../../../../test/support/failing-files.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { TestKeys } from '../testing/shard.ts';
import { asKept, finish, innerProduct, unitVector } from './testing.ts';
import { VectorIndex } from './vector-index.ts';

const EMBEDDER = { name: 'test/1', dimensions: 8 };
const GRAINS = 8;
const MEMORIES = [1, 2] as const;
const vectorOf = (memory: number, ordinal: number): Float32Array => unitVector(8, memory * 1_000 + ordinal);
const query = unitVector(8, 1);

function open(directory: string, keys = new TestKeys()): VectorIndex {
  return VectorIndex.open({ directory, keys, embedder: EMBEDDER, isRemoved: () => false });
}

function embed(index: VectorIndex, memory: number, from: number, to: number): void {
  for (let ordinal = from; ordinal <= to; ordinal++)
    if (!index.isEmbedded(memory, ordinal)) index.add(memory, ordinal, [vectorOf(memory, ordinal)]);
  index.advance(memory, to);
}

/** Two files, each with half of the grains of both memories. */
function makeFiles(t: TestContext): { directory: string; names: string[] } {
  const directory = temporaryDirectory(t);
  const index = open(directory);
  for (const from of [1, GRAINS / 2 + 1]) {
    for (const memory of MEMORIES) embed(index, memory, from, from + GRAINS / 2 - 1);
    finish(index.seal());
  }
  index.close();
  return { directory, names: readdirSync(directory).sort() };
}

/** A copy of the files in a fresh folder, and what the test does to it. */
function copyOf(files: { directory: string; names: string[] }, folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of files.names) copyFileSync(join(files.directory, name), join(folder, name));
  return folder;
}

/** Checks that every result is correct and that everything covered is found. Returns the number of grains. */
function check(index: VectorIndex, what: string): number {
  let count = 0;
  for (const memory of MEMORIES) {
    const hits = index.search(memory, query, { limit: 100 });
    for (const { ordinal, cosine } of hits)
      assert.ok(Math.abs(innerProduct(asKept(vectorOf(memory, ordinal)), query) - cosine) < 1e-5, what);
    const found = new Set(hits.map(({ ordinal }) => ordinal));
    assert.equal(found.size, hits.length, what);
    for (let ordinal = 1; ordinal <= index.embeddedUpTo(memory); ordinal++)
      assert.ok(found.has(ordinal), `${what}: ${ordinal} of memory ${memory} is reported as embedded`);
    count += hits.length;
  }
  return count;
}

/** Embeds missing grains again, and checks that all are there after a reopen. */
function heal(index: VectorIndex, folder: string, what: string): void {
  for (const memory of MEMORIES) embed(index, memory, index.embeddedUpTo(memory) + 1, GRAINS);
  finish(index.seal());
  assert.equal(check(index, what), 2 * GRAINS, what);
  index.close();
  const next = open(folder);
  assert.equal(check(next, `${what}, healed`), 2 * GRAINS);
  for (const memory of MEMORIES) assert.equal(next.embeddedUpTo(memory), GRAINS);
  assert.deepEqual(finish(next.verify()).findings, [], what);
  next.close();
}

test('a wrong byte anywhere loses only the data to which it belongs', (t) => {
  const files = makeFiles(t);
  const name = files.names[0]!;
  const bytes = readFileSync(join(files.directory, name));
  const folder = join(files.directory, 'damaged');
  for (let at = 0; at < bytes.length; at++) {
    const what = `byte ${at}`;
    copyOf(files, folder);
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1 << (at % 8);
    writeFileSync(join(folder, name), damaged);
    const index = open(folder);
    const count = check(index, what);
    assert.equal(check(index, what), count, what);
    // The later file is intact, and so is the other memory's entry in the damaged one.
    assert.ok(count >= GRAINS && count < 2 * GRAINS, `${what}: ${count} grains`);
    assert.ok(
      index.problems.some((problem) => problem.includes(name)),
      what,
    );
    for (const memory of MEMORIES) {
      const missing = index
        .gaps(memory)
        .flatMap(({ after, upTo }) => Array.from({ length: upTo - after }, (_, i) => after + 1 + i));
      for (let ordinal = 1; ordinal <= GRAINS; ordinal++)
        assert.equal(index.has(memory, ordinal), !missing.includes(ordinal), `${what}: grain ${ordinal}`);
    }
    if (at % 16 === 0) heal(index, folder, what);
    else index.close();
  }
});

test('a block that the disk cannot read loses only the data to which it belongs', (t) => {
  const files = makeFiles(t);
  const index = open(files.directory);
  const count = failingRead(t, () => check(index, 'unreadable'));
  assert.equal(count, (2 - 1 / 2) * GRAINS);
  assert.equal(index.problems.filter((problem) => problem.includes('EIO')).length, 1);
  heal(index, files.directory, 'unreadable');
});

test('a file that was truncated, emptied or deleted is embedded again', (t) => {
  const files = makeFiles(t);
  const folder = join(files.directory, 'damaged');
  const [first, second] = files.names as [string, string];
  const bytes = readFileSync(join(files.directory, second));
  for (let length = 0; length < bytes.length; length += 23) {
    copyOf(files, folder);
    writeFileSync(join(folder, second), bytes.subarray(0, length));
    const index = open(folder);
    assert.equal(check(index, `cut at ${length}`), GRAINS);
    assert.equal(index.problems.length, 1);
    assert.ok(existsSync(join(folder, `${second}.bad`)));
    heal(index, folder, `cut at ${length}`);
  }
  copyOf(files, folder);
  rmSync(join(folder, first));
  const index = open(folder);
  assert.equal(index.embeddedUpTo(1), 0);
  assert.deepEqual(index.gaps(1), [{ after: 0, upTo: GRAINS / 2 }]);
  heal(index, folder, 'deleted');
});

test('verify finds damage in data that was not read, and says where', (t) => {
  const files = makeFiles(t);
  const name = files.names[0]!;
  const path = join(files.directory, name);
  const bytes = readFileSync(path);
  bytes[40]! ^= 1;
  writeFileSync(path, bytes);
  const index = open(files.directory);
  const report = finish(index.verify());
  assert.equal(report.findings.length, 1);
  assert.match(report.findings[0]!.where, new RegExp(name));
  assert.match(report.findings[0]!.problem, /checksum/);
  assert.equal(report.blocks, 3);
  assert.equal(index.embeddedUpTo(1), 0);
  heal(index, files.directory, 'verified');
});

test('the file of an interrupted seal is ignored and deleted', (t) => {
  const files = makeFiles(t);
  const index = open(files.directory);
  for (const memory of MEMORIES) embed(index, memory, GRAINS + 1, 2 * GRAINS);
  const work = index.seal();
  for (let slices = 0; slices < 2; slices++) work.next();
  // The process ends here: nothing is cleaned up.
  assert.ok(readdirSync(files.directory).some((name) => name.endsWith('.tmp')));
  const next = open(files.directory);
  assert.equal(check(next, 'cut off'), 2 * GRAINS);
  assert.deepEqual(readdirSync(files.directory).sort(), files.names);
  next.close();
  index.close();
});

test('a merge interrupted after its file was named leaves no duplicates', (t) => {
  const files = makeFiles(t);
  const purged = copyOf(files, join(files.directory, 'purged'));
  const before = open(purged);
  finish(before.purge(1));
  finish(before.purge(2));
  before.close();
  const merged = readdirSync(purged);
  assert.ok(merged.every((name) => !files.names.includes(name)));
  // The replaced files are there again, as if they had not been deleted yet.
  const folder = copyOf(files, join(files.directory, 'cut'));
  for (const name of merged) copyFileSync(join(purged, name), join(folder, name));
  const index = open(folder);
  assert.equal(check(index, 'cut off'), 2 * GRAINS);
  assert.equal(index.count(1), GRAINS);
  assert.deepEqual(readdirSync(folder).sort(), [...merged].sort());
  index.close();
  // When the new files are damaged, the old ones count again.
  copyOf(files, folder);
  for (const name of merged) writeFileSync(join(folder, name), 'rubbish');
  const old = open(folder);
  assert.equal(check(old, 'old again'), 2 * GRAINS);
  assert.equal(old.problems.length, merged.length);
  old.close();
});

test('blocks that do not open under their key are embedded again', (t) => {
  const files = makeFiles(t);
  const keys = new TestKeys();
  const index = open(files.directory, keys);
  const right = keys.indexKeyById;
  keys.indexKeyById = () => new Uint8Array(32);
  assert.equal(index.search(1, query, { limit: 5 }).length, 0);
  keys.indexKeyById = right;
  assert.equal(index.embeddedUpTo(1), 0);
  assert.equal(index.problems.filter((problem) => problem.includes('does not open under its key')).length, 2);
  heal(index, files.directory, 'under the right key');
});
