import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { compose } from '../../engine/govern/policy/compose.ts';
import { nested } from '../../engine/govern/policy/rules.ts';
import { policyJson, type SealedPolicy, unsetPolicy } from '../../engine/govern/policy/seal.ts';
import { MemoryLogStore } from '../../engine/log/memory.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import { isMembers } from '../operations/names.ts';
import type { Shards } from '../shards.ts';
import { makeParts } from '../testing/parts.ts';
import { slugOf } from './ids.ts';
import { Memories, repliesPrefix } from './memories.ts';

const BY = { actor: 'system', requestId: 'test' };

test('default exists from the first start on, and is created once', async () => {
  const store = new MemoryLogStore();
  const first = await makeParts({ store });
  const number = first.services.memories.get('default').number;
  await first.close();
  const second = await makeParts({ store });
  assert.equal(second.services.memories.get('default').number, number);
  assert.equal(second.services.memories.count, 1);
});

test('an id is derived from the name, with a suffix if taken; an explicit id that is taken is rejected', async () => {
  const { services } = await makeParts();
  const ids: string[] = [];
  for (let round = 0; round < 3; round += 1) ids.push((await services.memories.create({ name: 'Ällo Wörld!' }, BY)).id);
  assert.deepEqual(ids, ['allo-world', 'allo-world-2', 'allo-world-3']);
  await assert.rejects(services.memories.create({ id: 'allo-world' }, BY), { code: 'MEM-E004' });
  await assert.rejects(services.memories.create({ id: 'no spaces' }, BY), { code: 'VAL-E001' });
  assert.match((await services.memories.create({ name: '日本' }, BY)).id, /^mem_[a-z2-7]{24}$/);
  assert.match((await services.memories.create({}, BY)).id, /^mem_[a-z2-7]{24}$/);
});

test('slugs are valid ids', () => {
  for (const name of ['a', 'A B', '--x--', 'x'.repeat(200), `${'y'.repeat(62)} z`, '9._-q', '_u', 'Ω mega'])
    assert.match(slugOf(name), /^[a-z0-9][A-Za-z0-9._-]{0,62}$/, name);
});

test('an interrupted deletion continues at the next start', async () => {
  const store = new MemoryLogStore();
  const first = await makeParts({
    store,
    instead: {
      dropMemory: (input) =>
        isMembers(input) && input['check'] === true
          ? Promise.resolve({ keyFingerprint: '' })
          : Promise.reject(new EngineError('STO-E002')),
    },
  });
  const memory = await first.services.memories.create({ id: 'gone' }, BY);
  await assert.rejects(first.services.memories.delete(memory, BY), { code: 'STO-E002' });
  assert.equal(first.services.memories.find('gone'), undefined);
  assert.ok(first.services.memories.list().every(({ id }) => id !== 'gone'));
  await first.close();
  const dropped: unknown[] = [];
  const second = await makeParts({
    store,
    instead: {
      dropMemory: (input) => {
        dropped.push(input);
        return Promise.resolve({ keyFingerprint: 'f' });
      },
    },
  });
  assert.equal(dropped.length, 1);
  assert.equal(second.services.control.get('memory', 'gone'), undefined);
});

test('a deletion delayed by a shard completes after its answer, and does not delay a start', async () => {
  const store = new MemoryLogStore();
  const first = await makeParts({ store });
  const memory = await first.services.memories.create({ id: 'gone' }, BY);
  let away = true;
  const asked: unknown[] = [];
  const shards = {
    shardCount: 1,
    attach: () => Promise.resolve(),
    call: (method: string, _: unknown, input: object) => {
      asked.push([method, input]);
      if (away && !('check' in input)) return Promise.reject(new EngineError('STO-E002'));
      return Promise.resolve({ keyFingerprint: '' });
    },
  } as unknown as Shards; // as far as deletions use it
  const { control, clock } = first.services;
  const made = () => new Memories({ store: control, shards, clock, memoriesMax: 10, retryMs: 1 });
  const memories = made();
  await assert.rejects(memories.delete(memory, BY), { code: 'STO-E002' });
  memories.close();
  const later = made();
  await later.start();
  assert.equal(control.get('memory', 'gone')?.deleting, true);
  const gone = new Promise<void>((resolve) => {
    control.watch('memory', (id, value) => {
      if (id === 'gone' && value === undefined) resolve();
    });
  });
  // The timer does not keep the process alive; this one does.
  const alive = setInterval(() => undefined, 1_000);
  away = false;
  await gone;
  clearInterval(alive);
  later.close();
  assert.ok(asked.length >= 4, JSON.stringify(asked));
  await first.close();
});

test('the deletion of a memory that its policy keeps does not even begin', async () => {
  const { services } = await makeParts({
    instead: { dropMemory: () => Promise.reject(new EngineError('POL-E003')) },
  });
  const memory = await services.memories.create({ id: 'held' }, BY);
  await assert.rejects(services.memories.delete(memory, BY), { code: 'POL-E003' });
  assert.equal(services.memories.find('held')?.deleting, undefined);
});

test('a memory with lost keys can be deleted unless its last known policy keeps it', async () => {
  const dropped: unknown[] = [];
  const { services } = await makeParts({
    instead: {
      dropMemory: (input) => {
        dropped.push(input);
        return Promise.resolve({ keyFingerprint: '0123456789abcdef' });
      },
    },
  });
  const { memories, control } = services;
  const policyOf = (version: number, presets: readonly string[]) =>
    JSON.parse(JSON.stringify(policyJson(sealed(version, presets)))) as JsonObject; // as it arrives from a thread
  const noted = await memories.create({ id: 'noted' }, BY);
  await memories.noteGoverning(noted, policyOf(2, ['legal_hold']));
  // The answer to an earlier change arrives late.
  await memories.noteGoverning(noted, policyOf(1, []));
  const policy = { presets: ['legal_hold'], overrides: {} };
  for (const memory of [memories.get('noted'), await memories.create({ id: 'first', policy }, BY)]) {
    await assert.rejects(memories.delete(memory, BY), { code: 'POL-E003' });
    assert.equal(memories.find(memory.id)?.deleting, undefined);
  }
  assert.deepEqual(dropped, [{ check: true }, { check: true }]);

  await memories.noteGoverning(noted, policyOf(3, []));
  const reply = { id: `${repliesPrefix(noted.number)}key`, bodyHash: 'b', atMs: 0, value: null };
  await control.commit((change) => change.put('reply', reply));
  await memories.delete(memories.get('noted'), BY);
  assert.equal(memories.find('noted'), undefined);
  assert.equal(control.count('reply'), 0);
});

function sealed(version: number, presets: readonly string[]): SealedPolicy {
  const composed = compose(presets);
  return { ...unsetPolicy(), ...composed, sealedRules: nested(composed.rules), version };
}

test('a memory whose keys cannot be created does not exist', async () => {
  let made = 0;
  const dropped: unknown[] = [];
  const { services } = await makeParts({
    instead: {
      attachMemory: () => {
        made += 1;
        return made === 1 ? Promise.resolve({}) : Promise.reject(new EngineError('STO-E001'));
      },
      dropMemory: (input) => {
        dropped.push(input);
        return Promise.reject(new EngineError('STO-E001'));
      },
    },
  });
  await assert.rejects(services.memories.create({ id: 'never' }, BY), { code: 'STO-E001' });
  assert.deepEqual(dropped, [{}], 'partitions that have it are asked to let it go');
  assert.equal(services.memories.find('never'), undefined);
  assert.ok(services.memories.find('default') !== undefined);
});

test('a creation that is repeated after an interruption never drops what was made', async () => {
  let isAway = false;
  const dropped: unknown[] = [];
  const { services } = await makeParts({
    instead: {
      attachMemory: () => (isAway ? Promise.reject(new EngineError('STO-E002')) : Promise.resolve({})),
      dropMemory: (input) => {
        dropped.push(input);
        return Promise.resolve({ keyFingerprint: 'f' });
      },
    },
  });
  const { memories } = services;
  // The process ended before the answer was kept, and others have used the memory since.
  const { number } = await memories.create({ id: 'made' }, BY);
  const first = { made: number, keep: () => undefined };
  isAway = true;
  await assert.rejects(memories.create({ id: 'made' }, { ...BY, first }), { code: 'STO-E002' });
  assert.deepEqual(dropped, []);
  assert.equal(memories.find('made')?.number, number);
  isAway = false;
  assert.equal((await memories.create({ id: 'made' }, { ...BY, first })).number, number);
});

test('a creation that is repeated after its memory was deleted makes another one', async () => {
  let isAway = true;
  const { services } = await makeParts({
    instead: {
      dropMemory: (input) =>
        isAway && !(isMembers(input) && input['check'] === true)
          ? Promise.reject(new EngineError('STO-E002'))
          : Promise.resolve({ keyFingerprint: 'f' }),
    },
  });
  const { memories } = services;
  const memory = await memories.create({ name: 'made' }, BY);
  const first = { made: memory.number, keep: () => undefined };
  await assert.rejects(memories.delete(memory, BY), { code: 'STO-E002' });
  isAway = false;
  const again = await memories.create({ name: 'made' }, { ...BY, first });
  assert.notEqual(again.number, memory.number);
  assert.equal(memories.find(again.id)?.number, again.number);
  memories.close();
});

test('the number of memories is bounded', async () => {
  const { services } = await makeParts({ flags: { memoriesMax: 2 } });
  await services.memories.create({ id: 'second' }, BY);
  await assert.rejects(services.memories.create({ id: 'third' }, BY), { code: 'LIM-E002' });
});

test('the embedders that memories chose are known, also after a start', async () => {
  const store = new MemoryLogStore();
  const first = await makeParts({ store });
  const memory = await first.services.memories.create({ id: 'grams', vectorBackend: 'ngram' }, BY);
  assert.equal(first.services.memories.settingsOf(memory.number)?.vectorBackend, 'ngram');
  await first.close();
  const { services } = await makeParts({ store });
  assert.deepEqual(
    ['', 'ngram', 'builtin'].map((backend) => services.memories.hasBackend(backend)),
    [true, true, false],
  );
  await services.memories.delete(services.memories.get('grams'), BY);
  assert.equal(services.memories.hasBackend('ngram'), false);
});

test('an interrupted policy seal is settled by the next start, and a failed one at once', async () => {
  const store = new MemoryLogStore();
  const sealed = policyJson({ ...unsetPolicy(), version: 3, ...compose(['gdpr']) }) as JsonObject; // a policy is an object
  const policy = () => Promise.resolve({ policy: { ...sealed, rules: nested(compose(['gdpr']).rules) } });
  const first = await makeParts({ store, instead: { policy } });
  const { memories } = first.services;
  const memory = memories.get('default');
  await memories.beginSealing(memory);
  assert.equal(memories.get('default').sealing, true);
  await first.close();
  const second = await makeParts({ store, instead: { policy } });
  const { sealing, governing } = second.services.memories.get('default');
  assert.deepEqual([sealing, governing?.version, governing?.egress], [undefined, 3, 'redact']);
  await second.services.memories.beginSealing(memory);
  await second.services.memories.settleSealing(memory);
  assert.equal(second.services.memories.get('default').sealing, undefined);
  await second.close();
});

test('the regions of a policy that an older build recorded without them are asked for at the next start', async () => {
  const store = new MemoryLogStore();
  const { rules } = compose(['gdpr']);
  const kept = { ...rules, 'residency.enforce': true, 'residency.regions': ['eu'] };
  const sealed = policyJson({ ...unsetPolicy(), version: 3, ...compose(['gdpr']) }) as JsonObject; // a policy is an object
  const policy = () => Promise.resolve({ policy: { ...sealed, rules: nested(kept) } });
  const first = await makeParts({ store, instead: { policy } });
  const { memories, control } = first.services;
  await memories.settleSealing(memories.get('default'));
  const { governing, ...memory } = memories.get('default');
  assert.deepEqual(governing?.regions, ['eu']);
  const { regions: _, ...older } = governing;
  await control.commit((change) => change.put('memory', { ...memory, governing: older }));
  await first.close();
  const second = await makeParts({ store, instead: { policy } });
  assert.deepEqual(second.services.memories.get('default').governing, governing);
  await second.close();
});

test('without an answer about the policy in force, it stays unsettled and the start continues', async () => {
  const store = new MemoryLogStore();
  const policy = () => Promise.reject(new EngineError('STO-E001'));
  const first = await makeParts({ store, instead: { policy } });
  await first.services.memories.beginSealing(first.services.memories.get('default'));
  await first.close();
  const second = await makeParts({ store, instead: { policy } });
  assert.equal(second.services.memories.get('default').sealing, true);
  await second.close();
});
