import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { checkMemory, Published } from '../../../test/model/index-check.ts';
import { failingOpen, failingRead } from '../../../test/support/failing-files.ts';
import { runs } from '../../../test/support/runs.ts';
import { EngineError } from '../base/errors.ts';
import { MERGE_FANOUT } from '../base/limits.ts';
import { CorruptBlock } from './files/section.ts';
import { withState } from './files/segment-change.ts';
import { SegmentFile } from './files/segment-file.ts';
import type { IndexedGrain } from './parts/part.ts';
import { type ShardIndex, tailGrainsOfThread } from './shard-index.ts';
import {
  addressOf,
  commit,
  finish,
  grainOf,
  openShard,
  StateOnly,
  sealAll,
  TestKeys,
  temporaryDirectory,
} from './testing/shard.ts';

/** A shard with `files` segment files; memory m of `memories` has some grains in each. */
function filled(options: { files: number; memories?: number; grains?: number; keys?: TestKeys }) {
  const { files, memories = 3, grains = 20, keys = new TestKeys() } = options;
  const log = new StateOnly();
  const directory = temporaryDirectory();
  const shard = openShard(directory, log, keys);
  const models = new Map<number, Published>();
  const published: (readonly [memory: number, grain: IndexedGrain])[] = [];
  let ordinal = 0;
  for (let i = 0; i < files; i++) {
    for (let j = 0; j < grains * memories; j++) {
      const memory = 1 + (j % memories);
      const grain = grainOf(++ordinal, ordinal * 13);
      published.push([memory, grain]);
      shard.publish(memory, grain);
      const model = models.get(memory) ?? new Published();
      models.set(memory, model);
      model.add(grain);
    }
    sealAll(shard, log);
  }
  const replay = (into: ShardIndex): void => {
    for (const [memory, grain] of published) if (grain.ordinal > into.sealedSequence) into.publish(memory, grain);
  };
  const check = (of: ShardIndex): void => {
    for (const [memory, model] of models) checkMemory(of.memory(memory), model);
  };
  return { log, directory, shard, keys, models, replay, check };
}

test('tails and chunks answer alike, also with no room in the heap', () => {
  const { shard, log, directory, check } = filled({ files: 1, memories: 1, grains: 120 });
  check(shard);
  shard.close();
  const again = openShard(directory, log, new TestKeys(), 0);
  check(again);
  again.close();
});

test('a memory into which nothing was published has no parts', () => {
  const { shard } = filled({ files: 1 });
  assert.deepEqual(shard.memory(99).parts, []);
  assert.equal(shard.memoryBytes(99), 0);
  shard.close();
});

test('a grain that was removed before a seal does not reach the segment', () => {
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log);
  const model = new Published();
  for (let ordinal = 1; ordinal <= 30; ordinal++) {
    const grain = { ...grainOf(ordinal, ordinal), tags: ordinal === 7 ? ['secret'] : [] };
    shard.publish(1, grain);
    if (ordinal !== 7) model.add(grain);
  }
  shard.publishKeyed(1, 'reply', 'gone', 31);
  shard.publishKeyed(1, 'reply', 'kept', 32);
  shard.markRemoved(1, 7);
  shard.markRemoved(1, 31);
  sealAll(shard, log);
  const [part] = shard.memory(1).parts;
  assert.equal(part?.docCount, 29);
  assert.equal(part.facet('tag', 'secret'), undefined);
  assert.deepEqual([...part.facetValues('tag')], []);
  assert.deepEqual([...part.keyed('reply', 'gone')], []);
  assert.deepEqual([...part.keyed('reply', 'kept')], [32]);
  shard.close();
});

test('the tails of a thread are counted while their indexes are open', () => {
  const before = tailGrainsOfThread();
  const shards = [0, 1].map(() => {
    const log = new StateOnly();
    return { log, shard: openShard(temporaryDirectory(), log, new TestKeys()) };
  });
  for (const [at, { shard }] of shards.entries())
    for (let ordinal = 1; ordinal <= 3 + at; ordinal++) shard.publish(1, grainOf(ordinal, ordinal));
  assert.equal(tailGrainsOfThread(), before + 7);
  sealAll(shards[0]!.shard, shards[0]!.log);
  assert.equal(tailGrainsOfThread(), before + 4);
  for (const { shard } of shards) shard.close();
  assert.equal(tailGrainsOfThread(), before);
});

test('memories of the tails count from their first grain on', () => {
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log, new TestKeys());
  for (const memory of [1, 2, 3]) shard.publishKeyed(memory, 'audit', memory, memory);
  assert.equal(shard.tailMemories, 0);
  for (const ordinal of [4, 5]) shard.publish(1, grainOf(ordinal, ordinal));
  shard.publish(2, grainOf(6, 6));
  assert.equal(shard.tailMemories, 2);
  commit(shard, log, finish(shard.dropMemory(2)));
  commit(shard, log, finish(shard.dropMemory(3)));
  assert.equal(shard.tailMemories, 1);
  sealAll(shard, log);
  assert.equal(shard.tailMemories, 0);
  shard.close();
});

test('a grain published during a seal is in the next tail, and seen at once', () => {
  const { shard, log, models } = filled({ files: 1, memories: 1 });
  const model = models.get(1)!;
  const first = grainOf(21, 5);
  shard.publish(1, first);
  model.add(first);
  const seal = shard.seal(21);
  seal.next();
  const second = grainOf(22, 6);
  shard.publish(1, second);
  model.add(second);
  checkMemory(shard.memory(1), model);
  assert.equal(shard.memory(1).parts.length, 3);
  assert.equal(shard.tailGrains, 2);
  commit(shard, log, finish(seal));
  assert.equal(shard.sealedSequence, 21);
  assert.deepEqual(
    shard.unsealedParts(1).map(({ docCount }) => docCount),
    [1],
  );
  checkMemory(shard.memory(1), model);
  shard.close();
});

test('a seal whose transaction failed is tried again with the same grains', () => {
  const { shard, log, check, directory } = filled({ files: 1 });
  const grain = grainOf(1_000, 3);
  shard.publish(9, grain);
  shard.markRemoved(1, 999);
  const change = finish(shard.seal(1_000));
  assert.ok(change.state.some(([key]) => key.startsWith('bitmap/removed/')));
  shard.abandon(change);
  assert.equal(readdirSync(directory).length, 1);
  assert.equal(shard.tailGrains, 1);
  const again = finish(shard.seal(1_000));
  assert.ok(again.state.some(([key]) => key.startsWith('bitmap/removed/')));
  commit(shard, log, again);
  assert.equal(shard.sealedSequence, 1_000);
  assert.equal(shard.memory(9).parts.length, 1);
  check(shard);
  shard.close();
});

test('a seal that the disk refuses loses nothing', () => {
  const { shard, log, check, directory } = filled({ files: 1 });
  shard.publish(9, grainOf(1_000, 3));
  const inTheWay = join(directory, '00000002.seg');
  mkdirSync(inTheWay);
  assert.throws(() => finish(shard.seal(1_000)), { code: 'STO-E001' });
  assert.equal(shard.memory(9).parts.length, 1);
  shard.publish(9, grainOf(1_001, 4));
  assert.equal(shard.tailGrains, 2);
  sealAll(shard, log);
  assert.equal(shard.sealedSequence, 1_000);
  sealAll(shard, log);
  assert.equal(shard.sealedSequence, 1_001);
  assert.equal(shard.tailGrains, 0);
  check(shard);
  shard.close();
});

test('a seal and a compaction that may open no more files are refused, leave none, and are tried again', (t) => {
  const { shard, log, check, directory } = filled({ files: 2 });
  shard.publish(9, grainOf(1_000, 3));
  const steps = { seal: () => shard.seal(1_000), compact: () => shard.compact() };
  for (const begin of Object.values(steps)) {
    const before = readdirSync(directory);
    failingOpen(t, () => assert.throws(() => finish<unknown>(begin()), { code: 'STO-E001', message: /EMFILE/ }));
    assert.deepEqual(readdirSync(directory), before);
    commit(shard, log, finish(begin())!);
  }
  check(shard);
  assert.equal(shard.memory(9).parts.length, 1);
  shard.close();
});

test('a change with further entries writes them in its transaction', () => {
  const { shard, log } = filled({ files: 1 });
  shard.publish(1, grainOf(500, 1));
  const change = finish(shard.seal(500));
  const more = withState(change, [['other', Uint8Array.of(1)]]);
  commit(shard, log, more);
  assert.equal(shard.sealedSequence, 500);
  assert.deepEqual(log.getState('other'), Uint8Array.of(1));
  shard.close();
});

test('segments of a tier merge into one, and a chunk without change keeps its bytes', () => {
  const { shard, log, check, directory } = filled({ files: MERGE_FANOUT - 1 });
  assert.equal(shard.mergeStep(), undefined);
  shard.publish(77, grainOf(10_000, 1));
  sealAll(shard, log);
  const before = SegmentFile.open(shard.files().at(-1)!, 1);
  const entry = before.find(77)!;
  const bytes = before.read(entry.offset, entry.length);
  before.release();
  commit(shard, log, finish(shard.mergeStep()!)!);
  assert.equal(shard.segments, 1);
  assert.deepEqual(readdirSync(directory).length, 1);
  check(shard);
  const after = SegmentFile.open(shard.files()[0]!, 1);
  const copied = after.find(77)!;
  assert.notEqual(copied.offset, entry.offset);
  assert.ok(bytes.equals(after.read(copied.offset, copied.length)));
  after.release();
  shard.close();
});

test('a replaced file stays until its last reader releases it', () => {
  const { shard, log, check } = filled({ files: 3 });
  const files = shard.files();
  const part = shard.memory(1).parts[0]!;
  const release = shard.beginRead();
  commit(shard, log, finish(shard.compact())!);
  check(shard);
  for (const path of files) assert.ok(existsSync(path));
  assert.ok(part.ordinals.length > 0);
  assert.ok([...part.facetValues('type')].length > 0);
  release();
  for (const path of files) assert.equal(existsSync(path), false);
  shard.close();
});

test('a compaction that would change nothing does nothing', () => {
  const { shard, log } = filled({ files: 2 });
  commit(shard, log, finish(shard.compact())!);
  assert.equal(finish(shard.compact()), undefined);
  shard.markRemoved(1, 1);
  const before = shard.bytesOnDisk;
  commit(shard, log, finish(shard.compact())!);
  assert.ok(shard.bytesOnDisk < before);
  shard.close();
});

test('a purge rewrites a memory under its newest key, and the old key opens nothing that is live', () => {
  const { shard, log, keys, models, check } = filled({ files: 3 });
  shard.markRemoved(2, 2);
  models.get(2)!.grains.delete(2);
  const [old] = shard.indexKeysInUse(2);
  keys.versions.set(2, 2);
  commit(shard, log, finish(shard.purge(2))!);
  assert.deepEqual(shard.indexKeysInUse(2), [keys.indexKey(2).id]);
  keys.destroyed.add(old!);
  assert.equal(shard.memory(2).parts.length, 1);
  check(shard);
  assert.equal(finish(shard.purge(2)), undefined);
  assert.equal(shard.segments, 4);
  commit(shard, log, finish(shard.compact())!);
  assert.equal(shard.segments, 1);
  check(shard);
  shard.close();
});

/** The unsealed parts of a memory that was just read. */
function tailsOf(shard: ShardIndex, memory: number): WeakRef<object>[] {
  assert.ok(shard.memory(memory).parts.length > 0);
  return shard.unsealedParts(memory).map((part) => new WeakRef(part));
}

/** Those that are still in use. */
async function kept(tails: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void; // what the flag defines
  // A reference that was made or read in this turn holds its object.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return tails.filter((tail) => tail.deref() !== undefined).length;
}

test('a tail is given back once it is sealed or dropped, though its memory is not read again', async () => {
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log);
  for (let ordinal = 1; ordinal <= 30; ordinal++) shard.publish(1 + (ordinal % 3), grainOf(ordinal, ordinal));
  const [sealed, dropped] = [tailsOf(shard, 1), tailsOf(shard, 2)];
  const holder = shard.memory(2);
  commit(shard, log, finish(shard.dropMemory(2)));
  assert.equal(await kept(dropped), 0);
  assert.deepEqual(holder.parts, []);
  assert.equal(await kept(sealed), 1);
  sealAll(shard, log);
  assert.equal(await kept(sealed), 0);
  shard.close();
});

test('a dropped memory is gone from tails, segments and a seal under way', () => {
  const { shard, log, directory, keys } = filled({ files: 2 });
  shard.publish(2, grainOf(1_000, 1));
  const seal = shard.seal(1_000);
  seal.next();
  commit(shard, log, finish(shard.dropMemory(2)));
  assert.deepEqual(shard.memory(2).parts, []);
  commit(shard, log, finish(seal));
  shard.publish(2, grainOf(1_001, 1));
  assert.deepEqual(shard.memory(2).parts, []);
  assert.equal(shard.memoryBytes(2), 0);
  shard.close();
  const again = openShard(directory, log, keys);
  assert.deepEqual(again.memory(2).parts, []);
  again.close();
});

test('a memory whose keys are gone is left out of seals and merges', () => {
  const keys = new TestKeys();
  const { shard, log, models } = filled({ files: 2, keys });
  shard.publish(2, grainOf(1_000, 1));
  shard.publish(3, grainOf(1_001, 1));
  models.get(3)!.add(grainOf(1_001, 1));
  const gone = keys.indexKey(2).id;
  keys.indexKey = (memory) => {
    if (memory === 2) throw new EngineError('MEM-E003');
    return { id: memory * 1_000 + 1, key: keys.indexKeyById(memory * 1_000 + 1) };
  };
  const byId = keys.indexKeyById.bind(keys);
  keys.indexKeyById = (id) => {
    if (id === gone) throw new EngineError('CRY-E002');
    return byId(id);
  };
  sealAll(shard, log);
  commit(shard, log, finish(shard.compact())!);
  assert.deepEqual(shard.memory(2).parts, []);
  for (const memory of [1, 3]) checkMemory(shard.memory(memory), models.get(memory)!);
  shard.close();
});

test('a reset forgets everything, and a replay from the first record brings it back', () => {
  const { shard, log, check, replay, directory } = filled({ files: 2 });
  commit(shard, log, shard.reset());
  assert.equal(shard.sealedSequence, 0);
  assert.deepEqual(readdirSync(directory), []);
  replay(shard);
  sealAll(shard, log);
  check(shard);
  shard.close();
});

test('a segment that no manifest names is deleted at open', () => {
  const { shard, log, directory, check, keys } = filled({ files: 1 });
  shard.publish(1, grainOf(900, 1));
  finish(shard.seal(900));
  const names = readdirSync(directory);
  assert.equal(names.length, 2);
  const copy = readFileSync(join(directory, names[1]!));
  shard.close();
  writeFileSync(join(directory, names[1]!), copy);
  writeFileSync(join(directory, 'notes.txt'), 'not ours');
  const again = openShard(directory, log, keys);
  assert.deepEqual(readdirSync(directory).sort(), [names[0]!, 'notes.txt']);
  check(again);
  again.close();
});

for (const harm of ['missing', 'cut', 'header', 'directory', 'footer'] as const) {
  test(`a segment with bad ${harm === 'cut' ? 'length' : harm} is set aside, and the log is replayed from before it`, () => {
    const { shard, log, directory, check, replay, keys } = filled({ files: 3 });
    const path = shard.files()[1]!;
    shard.close();
    const bytes = readFileSync(path);
    if (harm === 'missing') unlinkSync(path);
    if (harm === 'cut') truncateSync(path, bytes.length - 1_000);
    const at = { header: 9, directory: bytes.length - 60, footer: bytes.length - 30, missing: -1, cut: -1 }[harm];
    if (at >= 0) {
      bytes[at]! ^= 1;
      writeFileSync(path, bytes);
    }
    const again = openShard(directory, log, keys);
    assert.equal(again.problems.length, 1);
    assert.ok(again.problems[0]!.includes(basename(path)));
    assert.equal(existsSync(`${path}.bad`), harm !== 'missing');
    assert.equal(again.sealedSequence, 60);
    assert.equal(again.segments, 1);
    replay(again);
    check(again);
    sealAll(again, log);
    check(again);
    again.close();
    const healed = openShard(directory, log, keys);
    assert.deepEqual(healed.problems, []);
    check(healed);
    healed.close();
    assert.equal(readdirSync(directory).filter((name) => name.endsWith('.seg')).length, 2);
  });
}

/** Stamps the file as an older build would have. */
function stampOlder(path: string): void {
  const bytes = readFileSync(path);
  bytes.writeUInt16BE(1, 8);
  const footer = bytes.subarray(bytes.length - 40);
  footer.writeUInt32BE(1, 24);
  footer.writeUInt32BE(crc32(footer.subarray(0, 28)), 28);
  writeFileSync(path, bytes);
}

test('segments of an older format are rebuilt from the log and are not reported as a problem', () => {
  const { shard, log, directory, check, replay, keys } = filled({ files: 3 });
  const paths = shard.files();
  shard.close();
  for (const path of paths) stampOlder(path);
  // A crash before the new files are named changes nothing.
  for (let tries = 0; tries < 2; tries++) {
    const again = openShard(directory, log, keys);
    assert.deepEqual([again.problems, again.sealedSequence, again.segments], [[], 0, 0]);
    replay(again);
    check(again);
    if (tries === 1) sealAll(again, log);
    again.close();
  }
  assert.equal(readdirSync(directory).length, 1, 'the old files are gone, and none was set aside');
  const healed = openShard(directory, log, keys);
  assert.deepEqual([healed.problems, healed.segments], [[], 1]);
  check(healed);
  healed.close();
});

test('a single segment of an older format among new ones is rebuilt', () => {
  const { shard, log, directory, check, replay, keys } = filled({ files: 3 });
  stampOlder(shard.files()[1]!);
  shard.close();
  const again = openShard(directory, log, keys);
  assert.deepEqual([again.problems, again.sealedSequence, again.segments], [[], 60, 1]);
  replay(again);
  check(again);
  sealAll(again, log);
  check(again);
  again.close();
  assert.equal(readdirSync(directory).length, 2);
});

test('a bad file takes along the files whose ranges overlap what must be replayed', () => {
  const { shard, log, directory, check, replay, keys } = filled({ files: 3 });
  keys.versions.set(1, 2);
  commit(shard, log, finish(shard.purge(1))!);
  const bad = shard.files()[2]!;
  shard.close();
  truncateSync(bad, 100);
  const again = openShard(directory, log, keys);
  assert.equal(again.sealedSequence, 0);
  replay(again);
  check(again);
  again.close();
});

test('a flipped byte in a chunk affects that chunk alone, and is named', () => {
  const { shard, log, directory, models, keys } = filled({ files: 2 });
  const [first, second] = shard.files();
  shard.close();
  const file = SegmentFile.open(first!, 1);
  const entry = file.find(2)!;
  file.release();
  const bytes = readFileSync(first!);
  bytes[entry.offset + 100]! ^= 0x40;
  writeFileSync(first!, bytes);

  const again = openShard(directory, log, keys);
  assert.equal(again.memory(2).parts.length, 2);
  assert.throws(
    () => again.memory(2).parts[0]!.ordinals,
    (error) => error instanceof CorruptBlock && error.file === basename(first!) && error.offset === entry.offset,
  );
  assert.equal(again.memory(2).parts.length, 1);
  assert.equal(again.problems.length, 1);
  const later = new Published();
  for (const [ordinal, grain] of models.get(2)!.grains) if (ordinal > 60) later.grains.set(ordinal, grain);
  checkMemory(again.memory(2), later);
  for (const memory of [1, 3]) checkMemory(again.memory(memory), models.get(memory)!);
  const { findings } = finish(again.verify());
  assert.deepEqual(
    findings.map(({ where }) => where),
    [`${basename(first!)} at ${entry.offset}`],
  );
  assert.equal(finish(again.compact()), undefined, 'the rest of a damaged file is left where it is');
  keys.versions.set(2, 2);
  commit(again, log, finish(again.purge(2))!);
  checkMemory(again.memory(2), later);
  commit(again, log, finish(again.compact())!);
  assert.deepEqual(finish(again.verify()).findings, []);
  assert.equal(existsSync(second!), false);
  again.close();
});

test('a bad block that a merge finds stops only that merge', () => {
  const { shard, log, directory, keys, models } = filled({ files: MERGE_FANOUT });
  const path = shard.files()[3]!;
  shard.close();
  const file = SegmentFile.open(path, 1);
  const entry = file.find(1)!;
  file.release();
  const bytes = readFileSync(path);
  bytes[entry.offset + entry.length - 1]! ^= 1;
  bytes[entry.offset + 50]! ^= 1;
  writeFileSync(path, bytes);
  const again = openShard(directory, log, keys);
  assert.equal(finish(again.mergeStep()!), undefined);
  assert.equal(again.mergeStep(), undefined);
  assert.equal(readdirSync(directory).length, MERGE_FANOUT);
  checkMemory(again.memory(2), models.get(2)!);
  again.close();
});

test('a block that the disk cannot read stops only the merge that copies it', (t) => {
  const { shard, log, models } = filled({ files: 1 });
  for (let ordinal = 61; ordinal <= 70; ordinal++) shard.publish(4, grainOf(ordinal, ordinal));
  sealAll(shard, log);
  assert.equal(
    failingRead(t, () => finish(shard.compact())),
    undefined,
  );
  assert.equal(shard.isDamaged(1), true);
  assert.equal(shard.mergeStep(), undefined);
  checkMemory(shard.memory(2), models.get(2)!);
  shard.close();
});

test('every flipped byte of a file is noticed by open or verify', () => {
  const { shard, log, directory, keys } = filled({ files: 1, memories: 2, grains: 5 });
  const path = shard.files()[0]!;
  shard.close();
  const bytes = readFileSync(path);
  fc.assert(
    fc.property(fc.integer({ min: 16, max: bytes.length - 1 }), fc.integer({ min: 0, max: 7 }), (at, bit) => {
      const harmed = Buffer.from(bytes);
      harmed[at]! ^= 1 << bit;
      writeFileSync(path, harmed);
      const again = openShard(directory, log, keys);
      const noticed = again.problems.length + finish(again.verify()).findings.length;
      again.close();
      writeFileSync(path, bytes);
      assert.ok(noticed > 0, `byte ${at} of ${bytes.length}`);
    }),
    { numRuns: runs(150) },
  );
});

test('no segment file contains a name, value or word in the clear', () => {
  const canary = 'zanzibar-quagga-canary';
  const log = new StateOnly();
  const shard = openShard(temporaryDirectory(), log);
  for (let ordinal = 1; ordinal <= 40; ordinal++) {
    shard.publish(1, {
      ...grainOf(ordinal, ordinal),
      address: addressOf(canary),
      type: `${canary}-type`,
      namespace: `${canary}-namespace`,
      user: `${canary}-user`,
      session: `${canary}-session`,
      tags: [`${canary}-tag`],
      subject: `${canary}-subject`,
      relation: `${canary}-relation`,
      object: `${canary}-object`,
      source: `${canary}-source`,
      text: { analyzed: () => ({ terms: [canary, 'quagga'], positions: [0, 1] }) },
    });
  }
  shard.publishKeyed(1, 'userKey', `${canary}-key`, 41);
  sealAll(shard, log);
  const files = [
    ...shard.files().map((path) => readFileSync(path)),
    ...[...log.entries.values()].map((value) => Buffer.from(value)),
  ];
  assert.ok(files.length >= 2);
  const prefix = Buffer.from(addressOf(canary).slice(0, 16), 'hex');
  for (const bytes of files) {
    for (const word of [canary, 'quagga', 'zanzibar']) {
      assert.equal(bytes.indexOf(Buffer.from(word, 'utf8')), -1);
      assert.equal(bytes.indexOf(Buffer.from(word, 'utf16le')), -1);
    }
    assert.equal(bytes.indexOf(prefix), -1);
  }
  assert.equal(shard.memory(1).parts[0]!.facet('subject', `${canary}-subject`)?.length, 40);
  shard.close();
});
