import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import type { ScopeNode } from '../../engine/govern/scope-tree.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import type { ErasureProof, JsonValue } from '../../shards/protocol.ts';
import { Keys, type NewKey } from '../control/keys.ts';
import type { MemoryRecord } from '../control/memories.ts';
import { ControlStore } from '../control/store.ts';
import type { Person } from '../imports/holds.ts';
import { makeLog } from '../log.ts';
import type { Shards } from '../shards.ts';
import { Erasures } from './erasures.ts';

const KEY = createSecretKey(randomBytes(32));
const MEMORY = { number: 7, id: 'm' } as MemoryRecord; // all that erasures read
const PROOF: ErasureProof = { userId: 'ann', count: 3, keyFingerprint: '0123456789abcdef', timestamp: 5 };
const BY = { actor: 'key:one' };

/** Erasures over a persistent control log, and shards that answer as the test says. */
function deployment(store: MemoryLogStore, answers: Partial<Record<string, (input: unknown) => unknown>> = {}) {
  const asked: string[] = [];
  const call = async (method: string, _: unknown, input: unknown): Promise<unknown> => {
    asked.push(method);
    const answer = answers[method];
    if (answer !== undefined) return answer(input);
    return method === 'redactUser' ? { redacted: 0, removed: 0, more: false } : PROOF;
  };
  const control = ControlStore.open(new MemoryLog(store), KEY, systemClock);
  const shards = { call } as unknown as Pick<Shards, 'call'>; // answers of the called methods
  const lines: string[] = [];
  const log = makeLog('info', { write: (line) => void lines.push(line) });
  const erasures = new Erasures({ control, shards, log, clock: systemClock });
  const end = async (): Promise<void> => {
    await erasures.close();
    await control.close();
  };
  return { erasures, asked, control, end, logged: () => lines.join('') };
}

const refuse = (code: 'POL-E003' | 'STO-E002') => (): never => {
  throw new EngineError(code);
};

test('a completed erasure leaves no unfinished work', async () => {
  const { erasures, asked, end } = deployment(new MemoryLogStore());
  assert.deepEqual(await erasures.user(MEMORY, 'ann', BY, async () => PROOF), PROOF);
  assert.deepEqual([asked, erasures.pending], [['redactUser'], 0]);
  const unknown = { ...PROOF, keyFingerprint: '' };
  assert.deepEqual(await erasures.user(MEMORY, 'bob', BY, async () => unknown), unknown);
  assert.deepEqual([asked, erasures.pending], [['redactUser'], 0]);
  await end();
});

test('streams of events read again when a person or a scope was erased, also when the answer is an error', async () => {
  const { erasures, end } = deployment(new MemoryLogStore(), { eraseUser: refuse('STO-E002') });
  const told: number[] = [];
  const release = async () => () => undefined;
  erasures.attach({ hold: release }, { reread: (memory) => void told.push(memory) }, { erased: () => undefined });
  await erasures.user(MEMORY, 'ann', BY, async () => PROOF);
  assert.deepEqual(told, [7]);
  await erasures.scope(MEMORY, 'acme', BY, async () => ({ path: 'acme', timestamp: 5, proofs: [] }));
  assert.deepEqual(told, [7, 7]);
  await assert.rejects(
    erasures.user(MEMORY, 'bob', BY, async () => refuse('STO-E002')()),
    { code: 'STO-E002' },
  );
  assert.deepEqual(told, [7, 7, 7]);
  await end();
});

test('an error is reported and not retried', async () => {
  const { erasures, asked, end } = deployment(new MemoryLogStore());
  await assert.rejects(
    erasures.user(MEMORY, 'ann', BY, async () => refuse('POL-E003')()),
    { code: 'POL-E003' },
  );
  assert.deepEqual([asked, erasures.pending], [[], 0]);
  await end();
});

test('an error after the keys are destroyed says so, and the work goes on without the keys of a user who writes again', async (t) => {
  for (const failing of [2, 3]) {
    const { erasures, asked, control, end } = deployment(new MemoryLogStore());
    const { commit } = control;
    let commits = 0;
    t.mock.method(control, 'commit', (...change: Parameters<typeof commit>) => {
      commits += 1;
      if (commits === failing) throw new EngineError('STO-E001', 'the disk is full', { retryable: true });
      return commit.apply(control, change);
    });
    await assert.rejects(
      erasures.user(MEMORY, 'ann', BY, async () => PROOF),
      { code: 'STO-E001', retryable: true, message: /^STO-E001: the data are erased.* repeat .*the disk is full$/ },
    );
    await erasures.settled();
    assert.deepEqual([asked.includes('eraseUser'), erasures.pending], [false, 0]);
    assert.deepEqual(await erasures.user(MEMORY, 'ann', BY, async () => PROOF), PROOF);
    commits = 0;
    const erased = { path: 'acme', timestamp: 5, proofs: [{ ...PROOF, path: 'acme', isRepeat: false }] };
    await assert.rejects(
      erasures.scope(MEMORY, 'acme', BY, async () => erased),
      { message: /the data are erased/ },
    );
    await erasures.settled();
    assert.equal(erasures.pending, 0);
    // Nothing was held, so nothing is erased.
    commits = 0;
    await assert.rejects(
      erasures.user(MEMORY, 'bob', BY, async () => ({ ...PROOF, keyFingerprint: '' })),
      { message: 'STO-E001: the disk is full' },
    );
    await end();
  }
});

test('the next start completes an interrupted erasure before it returns', async () => {
  const store = new MemoryLogStore();
  const first = deployment(store, { eraseUser: refuse('STO-E002'), eraseScope: refuse('STO-E002') });
  const cut = async (): Promise<never> => refuse('STO-E002')();
  await assert.rejects(first.erasures.user(MEMORY, 'ann', { ...BY, reason: 'asked' }, cut), { code: 'STO-E002' });
  await assert.rejects(first.erasures.scope(MEMORY, 'acme', BY, cut), { code: 'STO-E002' });
  assert.equal(first.erasures.pending, 2);
  await first.end();

  const inputs: unknown[] = [];
  const noted = (answer: unknown) => (input: unknown) => {
    inputs.push(input);
    return answer;
  };
  const second = deployment(store, { eraseUser: noted(PROOF), eraseScope: noted({}) });
  await second.erasures.start();
  const erased = [{ userId: 'ann' }, { path: 'acme', tops: ['acme'] }];
  assert.deepEqual(inputs, erased);
  await second.erasures.settled();
  assert.deepEqual([inputs, second.erasures.pending], [erased, 0]);
  await second.end();
  const third = deployment(store);
  await third.erasures.start();
  assert.deepEqual(third.asked, []);
  await third.end();
});

/** A memory whose tree has the scopes, and one whose tree has others. */
const withTree = (root: ScopeNode): MemoryRecord => ({ ...MEMORY, scopes: { root, updatedAtMs: 5 } });

test('an interrupted erasure of a scope covers what lay in it, also after the tree has changed', async () => {
  for (const [scopePath, tops] of [
    ['/org/acme/', ['acme']],
    ['org', ['org', 'acme', 'beta']],
  ] as const) {
    const store = new MemoryLogStore();
    const first = deployment(store, { eraseScope: refuse('STO-E002') });
    const before = withTree({ name: 'org', children: [{ name: 'acme' }, { name: 'beta' }] });
    await first.control.commit((change) => change.put('memory', before));
    await assert.rejects(
      first.erasures.scope(MEMORY, scopePath, BY, async () => refuse('STO-E002')()),
      { code: 'STO-E002' },
    );
    await first.control.commit((change) =>
      change.put('memory', withTree({ name: 'org', children: [{ name: 'org' }] })),
    );
    await first.end();

    const inputs: unknown[] = [];
    const second = deployment(store, { eraseScope: (input) => inputs.push(input) });
    const held: unknown[] = [];
    const hold = async ({ isWithin }: Person) => {
      held.push(['acme', 'acme/prod', 'gamma'].map((namespace) => isWithin?.(namespace)));
      return () => undefined;
    };
    second.erasures.attach({ hold: hold as never }, { reread: () => undefined }, { erased: () => undefined });
    await second.erasures.start();
    await second.erasures.settled();
    assert.deepEqual([inputs, second.erasures.pending], [[{ path: scopePath, tops }], 0]);
    assert.deepEqual(held, [[true, true, false]]);
    await second.end();
  }
});

test('an interrupted erasure of a path that the tree never had ends, and says so', async () => {
  const store = new MemoryLogStore();
  const first = deployment(store, { eraseScope: refuse('STO-E002') });
  await first.control.commit((change) => change.put('memory', withTree({ name: 'org' })));
  await assert.rejects(
    first.erasures.scope(MEMORY, 'acme', BY, async () => refuse('STO-E002')()),
    { code: 'STO-E002' },
  );
  await first.end();
  const inputs: unknown[] = [];
  const eraseScope = (input: unknown) => {
    inputs.push(input);
    throw new EngineError('SCP-E001');
  };
  const second = deployment(store, { eraseScope });
  await second.erasures.start();
  await second.erasures.settled();
  assert.deepEqual([inputs.at(-1), second.erasures.pending], [{ path: 'acme' }, 0]);
  assert.match(second.logged(), /without removing anything/);
  await second.end();
});

test('an erasure of a scope that an older build left erases what lies at its path when the tree lacks it', async () => {
  const store = new MemoryLogStore();
  const first = deployment(store);
  const name = 'memory/7/erasure/ers_old';
  await first.control.commit((change) => {
    change.put('memory', withTree({ name: 'org' }));
    change.put('setting', { name, value: { name, memory: 7, target: { scopePath: '/acme/' }, actor: 'key:one' } });
  });
  assert.equal(first.erasures.pending, 1);
  await first.end();
  const inputs: unknown[] = [];
  const eraseScope = (input: unknown) => {
    inputs.push(input);
    if (!Object.hasOwn(input as object, 'tops')) throw new EngineError('SCP-E001');
  };
  const second = deployment(store, { eraseScope });
  await second.erasures.start();
  await second.erasures.settled();
  const path = '/acme/';
  assert.deepEqual([inputs, second.erasures.pending], [[{ path }, { path, tops: ['acme'] }], 0]);
  assert.match(second.logged(), /no longer has the scope/);
  await second.end();
});

test('names that the answer did not wait for are redacted afterwards', async () => {
  let left = 24;
  const redactUser = () => {
    left -= 1;
    return { redacted: 1, removed: 1, more: left > 0 };
  };
  const { erasures, end } = deployment(new MemoryLogStore(), { redactUser });
  await erasures.user(MEMORY, 'ann', BY, async () => PROOF);
  assert.ok(left > 0 && erasures.pending === 1, `${left} left`);
  await erasures.settled();
  assert.deepEqual([left, erasures.pending], [0, 0]);
  await end();
});

test('a user who writes again is not erased again by the next start', async () => {
  const busy = { redactUser: refuse('STO-E002') };
  const answered = new MemoryLogStore();
  const first = deployment(answered, busy);
  await first.erasures.user(MEMORY, 'ann', BY, async () => PROOF);
  await first.end();
  // The other path: a start destroys the keys.
  const cut = new MemoryLogStore();
  const second = deployment(cut, { ...busy, eraseUser: refuse('STO-E002') });
  await assert.rejects(second.erasures.user(MEMORY, 'ann', BY, async () => refuse('STO-E002')()));
  await second.end();
  const third = deployment(cut, busy);
  await third.erasures.start();
  assert.ok(third.asked.includes('eraseUser'));
  await third.end();

  for (const store of [answered, cut]) {
    const inputs: unknown[] = [];
    const redactUser = (input: unknown) => {
      inputs.push(input);
      return { redacted: 0, removed: 0, more: false };
    };
    const last = deployment(store, { redactUser });
    await last.erasures.start();
    await last.erasures.settled();
    assert.deepEqual(last.asked, ['redactUser']);
    assert.deepEqual(inputs, [{ userId: 'ann', keyFingerprint: PROOF.keyFingerprint }]);
    assert.equal(last.erasures.pending, 0);
    await last.end();
  }
});

test('an erasure in a deleted memory has nothing left to do', async () => {
  const store = new MemoryLogStore();
  const first = deployment(store, { eraseUser: refuse('STO-E002') });
  await assert.rejects(
    first.erasures.user(MEMORY, 'ann', BY, async () => refuse('STO-E002')()),
    { code: 'STO-E002' },
  );
  await first.end();
  const gone = () => {
    throw new EngineError('MEM-E003');
  };
  const second = deployment(store, { eraseUser: gone });
  await second.erasures.start();
  await second.erasures.settled();
  assert.equal(second.erasures.pending, 0);
  await second.end();
});

/** A memory, and keys of ann and of others. */
async function withKeys(control: ControlStore): Promise<Readonly<Record<string, string>>> {
  await control.commit((change) => {
    change.put('memory', MEMORY);
    change.put('memory', { ...MEMORY, number: 8, id: 'other' });
  });
  const keys = new Keys(control, systemClock);
  const ids: Record<string, string> = {};
  const make = async (what: string, wanted: Omit<NewKey, 'name' | 'scopes'>): Promise<void> => {
    ids[what] = (await keys.create({ name: "ann's laptop", scopes: ['read'], ...wanted }, 'system')).key.keyId;
  };
  await make('bound', { memoryId: 'm', userId: 'ann', namespace: 'ann/private' });
  await make('given', { memoryId: 'm', principal: 'user:ann' });
  await make('everywhere', { userId: 'ann' });
  await make('of another memory', { memoryId: 'other', userId: 'ann' });
  await make('of another person', { memoryId: 'm', userId: 'annette' });
  await make('of the deployment', { principal: 'user:ann' });
  await make('revoked before', { memoryId: 'm', userId: 'ann' });
  await keys.revoke(ids['revoked before']!, 'system');
  return ids;
}

const endedOf = (control: ControlStore, ids: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(ids).filter((what) => {
    const key = control.get('key', ids[what]!)!;
    if (key.erased !== true) return false;
    // A whole word: a random id may contain the letters.
    assert.ok(key.revokedAtMs !== undefined && !/\bann\b/.test(JSON.stringify(key)), what);
    assert.deepEqual([key.name, key.principal], ['erased', `key:${key.keyId}`]);
    return true;
  });

test("an erasure revokes the person's keys in the memory, and everywhere for a caller who acts for the deployment", async () => {
  const OF_MEMORY = ['bound', 'given', 'revoked before'];
  for (const everywhere of [false, true]) {
    const { erasures, control, end } = deployment(new MemoryLogStore());
    const ids = await withKeys(control);
    // Also for a user without grains.
    const proof = everywhere ? PROOF : { ...PROOF, keyFingerprint: '' };
    await erasures.user(MEMORY, 'ann', { ...BY, everywhere }, async () => proof);
    const ended = endedOf(control, ids);
    assert.deepEqual(new Set(ended), new Set(everywhere ? [...OF_MEMORY, 'everywhere'] : OF_MEMORY));
    const events = [...control.auditEntries()].filter(({ event }) => event === 'auth.key_revoked').slice(1);
    assert.deepEqual(
      events.map(({ actor, details }) => [actor, JSON.parse(details)]),
      ended.map((what) => [BY.actor, { erased: true, key_id: ids[what] }]),
    );
    // A repeat reports nothing more.
    await erasures.user(MEMORY, 'ann', { ...BY, everywhere }, async () => proof);
    assert.equal(
      [...control.auditEntries()].filter(({ event }) => event === 'auth.key_revoked').length,
      events.length + 1,
    );
    await end();
  }
});

test('keys left by a crash after the grains are revoked by the next start, before it serves', async () => {
  const store = new MemoryLogStore();
  const first = deployment(store, { eraseUser: refuse('STO-E002') });
  const ids = await withKeys(first.control);
  // The grains are gone, and the control log rejects writes.
  await assert.rejects(
    first.erasures.user(MEMORY, 'ann', BY, async () => {
      first.control.commit = () => Promise.reject(new EngineError('STO-E001'));
      return PROOF;
    }),
    { code: 'STO-E001' },
  );
  assert.deepEqual(endedOf(first.control, ids), []);
  await first.end();
  const second = deployment(store);
  await second.erasures.start();
  assert.deepEqual(endedOf(second.control, ids), ['bound', 'given', 'revoked before']);
  await second.end();
});

test('a stored answer that shows a key of the person as it was made loses its names with the key', async () => {
  const { erasures, control, end } = deployment(new MemoryLogStore());
  const ids = await withKeys(control);
  for (const [id, keyId] of Object.entries(ids))
    await control.commit((change) =>
      change.put('reply', {
        id,
        bodyHash: 'b',
        atMs: systemClock.nowMs(),
        value: { keyId, name: "ann's laptop", principal: 'user:ann', userId: 'ann', prefix: 'gp_0' },
      }),
    );
  await erasures.user(MEMORY, 'ann', BY, async () => PROOF);
  const ended = new Set(endedOf(control, ids));
  assert.ok(ended.size > 0);
  for (const [id, keyId] of Object.entries(ids)) {
    const left = { keyId, name: 'erased', principal: `key:${keyId}`, prefix: 'gp_0' };
    const { value } = control.get('reply', id)!;
    if (ended.has(id)) assert.deepEqual(value, left);
    else assert.match(JSON.stringify(value), /ann's laptop/);
  }
  await end();
});

test('an erasure of a scope deletes stored answers that name a grain', async () => {
  const { erasures, control, end } = deployment(new MemoryLogStore());
  const keep = (id: string, value: JsonValue): Promise<void> =>
    control.commit((change) => change.put('reply', { id, bodyHash: 'b', atMs: systemClock.nowMs(), value }));
  await keep('7 one', { hashes: ['a'.repeat(64)] });
  await keep('7 two', { name: 'acme' });
  await erasures.scope(MEMORY, 'acme', BY, async () => ({ path: 'acme', timestamp: 5, proofs: [] }));
  assert.deepEqual(
    [...control.values('reply')].map(({ id }) => id),
    ['7 two'],
  );
  await end();
});

test('stored answers that name the user, or a grain, are deleted; those of others and of other memories stay', async () => {
  const { erasures, control, end } = deployment(new MemoryLogStore());
  const keep = (id: string, value: JsonValue): Promise<void> =>
    control.commit((change) => change.put('reply', { id, bodyHash: 'b', atMs: systemClock.nowMs(), value }));
  await keep('7 one', { result: { restrictions: [{ user_id: 'ann' }] } });
  await keep('7 two', { user_id: 'annette' });
  await keep('7 three', { fileName: 'letter of Ann.pdf' });
  await keep('7 four', { groups: [{ canonicalHash: 'a'.repeat(64) }] });
  await keep('8 one', { user_id: 'ann' });
  await erasures.user(MEMORY, 'ann', BY, async () => PROOF);
  assert.deepEqual(
    [...control.values('reply')].map(({ id }) => id),
    ['7 two', '8 one'],
  );
  await end();
});
