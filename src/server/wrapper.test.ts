// Access rules: the contract's section 3 through the operation table.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import type { Scope } from './auth/principal.ts';
import { ADMIN, ask, makeKey, makeParts } from './testing/parts.ts';

const BELIEF = { subject: 'ann', relation: 'likes', object: 'tea' };

test('without credentials only health and config answer', async () => {
  const parts = await makeParts();
  for (const [verb, path] of [
    ['GET', '/health'],
    ['GET', '/config'],
  ] as const)
    assert.equal((await ask(parts, verb, path)).status, 200, path);
  for (const [verb, path] of [
    ['GET', '/memories'],
    ['GET', '/openapi.json'],
    ['GET', '/memories/default/stats'],
    ['POST', '/memories/nowhere/add'],
  ] as const) {
    const answer = await ask(parts, verb, path, { json: BELIEF });
    assert.equal(answer.body['code'], 'AUT-E005', path);
    assert.equal(answer.headers['www-authenticate'], 'Bearer');
  }
});

test('an unknown, revoked or expired key is AUT-E004, in each place where a key can be sent', async () => {
  const parts = await makeParts();
  const key = await makeKey(parts, ['read'], { expiresAtMs: parts.clock.nowMs() + 1000 });
  const stats = (headers: Record<string, string>) => ask(parts, 'GET', '/memories/default/stats', { headers });
  assert.equal((await stats({ authorization: `Bearer ${key}` })).status, 200);
  assert.equal((await stats({ authorization: `bearer ${key}` })).status, 200);
  assert.equal((await stats({ 'x-api-key': key })).status, 200);
  for (const bad of [`gr_${'0'.repeat(64)}`, 'nonsense', key.toUpperCase()]) {
    assert.equal((await stats({ authorization: `Bearer ${bad}` })).body['code'], 'AUT-E004');
    assert.equal((await stats({ 'x-api-key': bad })).body['code'], 'AUT-E004');
  }
  assert.equal((await stats({ authorization: `Basic ${key}` })).body['code'], 'AUT-E004');
  parts.clock.now += 1000;
  assert.equal((await stats({ authorization: `Bearer ${key}` })).body['code'], 'AUT-E004');
  const other = await makeKey(parts, ['admin']);
  const keyId = parts.services.keys.authenticate(other)?.keyId ?? '';
  assert.equal((await ask(parts, 'DELETE', `/auth/keys/${keyId}`, { key: ADMIN })).body['revoked'], true);
  assert.equal((await ask(parts, 'GET', '/auth/keys', { key: other })).body['code'], 'AUT-E004');
  assert.equal((await ask(parts, 'DELETE', '/auth/keys/key_none', { key: ADMIN })).body['code'], 'AUT-E007');
});

test('each scope allows its operations and no others', async () => {
  const parts = await makeParts();
  const routes: readonly (readonly [Scope, string, string, unknown])[] = [
    ['read', 'GET', '/memories/default/stats', undefined],
    ['read', 'POST', '/memories/default/recall', { subject: 'ann' }],
    ['write', 'POST', '/memories/default/add', BELIEF],
    ['write', 'POST', '/memories/default/flush', undefined],
    ['admin', 'GET', '/auth/keys', undefined],
    ['admin', 'POST', '/memories', { id: 'made' }],
    ['admin', 'POST', '/memories/default/forget', { user_id: 'ann' }],
    ['admin', 'POST', '/memories/default/app/exec', { command: 'compact' }],
    ['read', 'POST', '/memories/default/app/exec', { command: 'help' }],
  ];
  const held: readonly Scope[] = ['read', 'write', 'admin'];
  for (const [at, scope] of held.entries()) {
    const key = await makeKey(parts, [scope]);
    for (const [needed, verb, path, json] of routes) {
      const answer = await ask(parts, verb, path, { key, json });
      const mayDo = at >= held.indexOf(needed);
      assert.equal(answer.error?.code, mayDo ? undefined : 'AUT-E001', `${scope} ${verb} ${path}`);
    }
  }
});

test('a key bound to a memory sees no other, whether it exists or not', async () => {
  const parts = await makeParts();
  await ask(parts, 'POST', '/memories', { key: ADMIN, json: { id: 'mine' } });
  await ask(parts, 'POST', '/memories', { key: ADMIN, json: { id: 'other' } });
  const key = await makeKey(parts, ['admin'], { memoryId: 'mine' });
  assert.match(key, /^gp_/);
  assert.equal((await ask(parts, 'GET', '/memories/mine', { key })).body['id'], 'mine');
  for (const id of ['other', 'nowhere'])
    assert.equal((await ask(parts, 'GET', `/memories/${id}`, { key })).body['code'], 'AUT-E001');
  assert.equal((await ask(parts, 'GET', '/memories/nowhere', { key: ADMIN })).body['code'], 'MEM-E003');
  const { memories } = (await ask(parts, 'GET', '/memories', { key })).body;
  assert.deepEqual(
    (memories as { id: string }[]).map(({ id }) => id),
    ['mine'],
  );
  assert.equal((await ask(parts, 'POST', '/memories', { key, json: {} })).body['code'], 'AUT-E001');
  const wider = await ask(parts, 'POST', '/auth/keys', { key, json: { memory_id: 'other' } });
  assert.equal(wider.body['code'], 'AUT-E001');
  const same = await ask(parts, 'POST', '/auth/keys', { key, json: {} });
  assert.equal(same.body['memory_id'], 'mine');
  const { keys } = (await ask(parts, 'GET', '/auth/keys', { key })).body;
  assert.ok((keys as { memory_id?: string }[]).every((one) => one.memory_id === 'mine'));
});

test('a deleted memory’s key does not work for a new memory with its id', async () => {
  const parts = await makeParts();
  const make = () => ask(parts, 'POST', '/memories', { key: ADMIN, json: { id: 'mine' } });
  await make();
  const [own, free] = [await makeKey(parts, ['admin'], { memoryId: 'mine' }), await makeKey(parts, ['read'])];
  const stats = (key: string) => ask(parts, 'GET', '/memories/mine/stats', { key });
  assert.equal((await stats(own)).status, 200);
  assert.equal((await ask(parts, 'DELETE', '/memories/mine', { key: own })).body['deleted'], true);
  await make();
  assert.equal((await stats(own)).body['code'], 'AUT-E004');
  assert.equal((await stats(free)).status, 200);
  const events = [...parts.services.control.auditEntries()].map(({ event }) => event);
  assert.equal(events.filter((event) => event === 'auth.key_revoked').length, 1);
  await assert.rejects(makeKey(parts, ['read'], { memoryId: 'nowhere' }), { code: 'MEM-E003' });
});

test('a request narrows to a namespace or user, and never widens', async () => {
  const parts = await makeParts();
  const seen = () =>
    parts.engines
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method === 'recall')
      .at(-1);
  const recall = (key: string, headers: Record<string, string> = {}) =>
    ask(parts, 'POST', '/memories/default/recall', { key, headers, json: { subject: 'ann' } });
  const free = await makeKey(parts, ['read']);
  const bound = await makeKey(parts, ['read'], { namespace: 'work', userId: 'ann' });
  await recall(free);
  assert.equal(seen()?.context.namespace, undefined);
  await recall(free, { 'x-namespace': 'home', 'x-user-id': 'bob' });
  assert.deepEqual([seen()?.context.namespace, seen()?.context.userId], ['home', 'bob']);
  await recall(bound);
  assert.deepEqual([seen()?.context.namespace, seen()?.context.userId], ['work', 'ann']);
  assert.equal((await recall(bound, { 'x-namespace': 'work' })).status, 200);
  assert.equal((await recall(bound, { 'x-namespace': 'home' })).body['code'], 'AUT-E001');
  assert.equal((await recall(bound, { 'x-user-id': 'bob' })).body['code'], 'AUT-E001');
});

test('a narrowed admin call has only the rights of a key bound that way', async () => {
  const parts = await makeParts();
  await ask(parts, 'POST', '/memories', { key: ADMIN, json: { id: 'kept' } });
  const narrow = (verb: string, path: string, json?: unknown) =>
    ask(parts, verb, path, { key: ADMIN, json, headers: { 'x-namespace': 'work' } });
  assert.equal((await narrow('DELETE', '/memories/kept')).body['code'], 'AUT-E001');
  assert.equal((await narrow('POST', '/memories', { id: 'made' })).body['code'], 'AUT-E001');
  const rotate = { command: 'rotate_keys', args: { scope: 'kek' } };
  assert.equal((await narrow('POST', '/memories/kept/app/exec', rotate)).body['code'], 'AUT-E001');
  const made = await narrow('POST', '/auth/keys', {});
  assert.equal(made.body['namespace'], 'work');
  assert.equal((await narrow('POST', '/auth/keys', { namespace: 'home' })).body['code'], 'AUT-E001');
  assert.deepEqual(
    ((await narrow('GET', '/auth/keys')).body['keys'] as { key_id: string }[]).map(({ key_id: id }) => id),
    [made.body['key_id']],
  );
  assert.equal((await ask(parts, 'DELETE', '/memories/kept', { key: ADMIN })).status, 200);
});

test('mode none makes local callers admin, allows others only writes, and still checks sent keys', async () => {
  const home = await makeParts({ flags: { auth: 'none' } });
  assert.equal((await ask(home, 'GET', '/auth/keys')).status, 200);
  assert.equal((await ask(home, 'GET', '/auth/keys', { key: `gr_${'0'.repeat(64)}` })).body['code'], 'AUT-E004');
  const reader = await makeKey(home, ['read']);
  assert.equal((await ask(home, 'GET', '/auth/keys', { key: reader })).body['code'], 'AUT-E001');
  const open = await makeParts({ flags: { auth: 'none', host: '0.0.0.0', insecure: true } });
  assert.equal((await ask(open, 'POST', '/memories/default/add', { json: BELIEF })).status, 200);
  assert.equal((await ask(open, 'POST', '/memories', { json: { id: 'made' } })).status, 201);
  assert.equal((await ask(open, 'GET', '/auth/keys')).body['code'], 'AUT-E001');
  assert.equal((await ask(open, 'DELETE', '/memories/made')).body['code'], 'AUT-E001');
});

test('the actor is the key, or anonymous', async () => {
  const parts = await makeParts({ flags: { auth: 'none' } });
  const actor = () =>
    parts.engines
      .flatMap(({ calls }) => calls)
      .filter(({ method }) => method === 'add')
      .at(-1)?.context.actor;
  await ask(parts, 'POST', '/memories/default/add', { json: BELIEF });
  assert.equal(actor(), 'anonymous');
  await ask(parts, 'POST', '/memories/default/add', { json: BELIEF, key: ADMIN });
  assert.match(actor() ?? '', /^key:key_[a-z2-7]{24}$/);
});

test('failed authentications are limited by address; a good key is not', async () => {
  const parts = await makeParts();
  const attempt = (address: string, key = `gr_${'1'.repeat(64)}`) =>
    ask(parts, 'GET', '/memories/default/stats', { key, address });
  for (let count = 0; count < 60; count += 1) assert.equal((await attempt('10.0.0.1')).body['code'], 'AUT-E004');
  assert.equal((await attempt('10.0.0.1')).body['code'], 'LIM-E001');
  assert.equal((await attempt('10.0.0.2')).body['code'], 'AUT-E004');
  assert.equal((await attempt('10.0.0.1', ADMIN)).status, 200);
  parts.clock.now += 1000;
  assert.equal((await attempt('10.0.0.1')).body['code'], 'AUT-E004');
  assert.equal(parts.authenticator.takeFailed(), 63);
  assert.equal(parts.authenticator.takeFailed(), 0);
});

test('the rate limit counts by key, reports what is left, and refills', async () => {
  const parts = await makeParts({ flags: { rateLimit: 12 } });
  const stats = (key: string) => ask(parts, 'GET', '/memories/default/stats', { key });
  const other = await makeKey(parts, ['read']);
  const first = await stats(ADMIN);
  assert.deepEqual(
    [first.headers['x-ratelimit-limit'], first.headers['x-ratelimit-remaining'], first.headers['x-ratelimit-reset']],
    ['12', '1', '5'],
  );
  await stats(ADMIN);
  const refused = await stats(ADMIN);
  assert.equal(refused.body['code'], 'LIM-E001');
  assert.equal(refused.headers['retry-after'], '5');
  assert.equal((await stats(other)).status, 200);
  parts.clock.now += 5000;
  assert.equal((await stats(ADMIN)).status, 200);
});

test('a valid request id is echoed, otherwise one is made', async () => {
  const parts = await makeParts();
  const idOf = async (given?: string) =>
    (await ask(parts, 'GET', '/health', { headers: given === undefined ? {} : { 'x-request-id': given } })).headers[
      'x-request-id'
    ] ?? '';
  assert.equal(await idOf('my-id_1.2:3'), 'my-id_1.2:3');
  for (const bad of [undefined, '', 'a b', 'x'.repeat(129), 'a\r\nb'])
    assert.match(await idOf(bad), /^req_[a-z2-7]{24}$/);
});

test('an idempotency key reaches the shard with the body’s hash, and is separate for each caller', async () => {
  const parts = await makeParts();
  const claims = async (key: string, header: string, json: unknown, path = '/memories/default/add') => {
    await ask(parts, 'POST', path, { key, json, headers: { 'idempotency-key': header } });
    return parts.engines
      .flatMap(({ calls }) => calls)
      .filter(({ context }) => context.idempotency !== undefined)
      .at(-1)?.context.idempotency;
  };
  const first = await claims(ADMIN, 'one', BELIEF);
  assert.deepEqual(await claims(ADMIN, 'one', BELIEF), first);
  const otherBody = await claims(ADMIN, 'one', { ...BELIEF, object: 'milk' });
  assert.equal(otherBody?.key, first?.key);
  assert.notEqual(otherBody?.bodyHash, first?.bodyHash);
  assert.notEqual((await claims(ADMIN, 'two', BELIEF))?.key, first?.key);
  assert.notEqual((await claims(await makeKey(parts, ['write']), 'one', BELIEF))?.key, first?.key);
});

test('maintenance with an idempotency key runs once, and its key belongs to the memory', async () => {
  let rotations = 0;
  const rotateKeys = async () => {
    rotations += 1;
    return { rotated: rotations, fingerprint: '0123456789abcdef' };
  };
  const flush = async () => ({ flushed: rotations, pending: 0 });
  const parts = await makeParts({ instead: { rotateKeys, flush } });
  const send = (path: string, json: unknown, header = 'one') =>
    ask(parts, 'POST', `/memories/default${path}`, { key: ADMIN, json, headers: { 'idempotency-key': header } });
  const rotate = { command: 'rotate_keys', args: { scope: 'memory' } };
  const first = await send('/app/exec', rotate);
  assert.deepEqual((await send('/app/exec', rotate)).body['result'], first.body['result']);
  assert.equal(rotations, 1);
  assert.equal((await send('/app/exec', { command: 'compact' })).body['code'], 'VAL-E005');
  assert.equal((await send('/add', BELIEF)).body['code'], 'VAL-E005');
  assert.equal((await send('/add', BELIEF, 'two')).status, 200);
  assert.equal((await send('/app/exec', rotate, 'two')).body['code'], 'VAL-E005');
  assert.deepEqual((await send('/flush', null, 'three')).body, (await send('/flush', null, 'three')).body);
  // A rejected call leaves its key free.
  assert.equal((await send('/app/exec', { command: 'rotate_keys', args: {} }, 'four')).body['code'], 'VAL-E003');
  assert.equal((await send('/app/exec', rotate, 'four')).status, 200);
  assert.equal(rotations, 2);
});

test('a repeated change of the deployment runs once, and a secret is shown once', async () => {
  const parts = await makeParts();
  const create = (json: unknown, header = 'k') =>
    ask(parts, 'POST', '/auth/keys', { key: ADMIN, json, headers: { 'idempotency-key': header } });
  const [first, together] = await Promise.all([create({ name: 'a' }), create({ name: 'a' })]);
  assert.match(String(first.body['raw_key']), /^gr_/);
  const { raw_key: _, ...shown } = first.body;
  assert.deepEqual(together.body, shown);
  const again = await create({ name: 'a' });
  assert.equal(again.status, 201);
  assert.deepEqual(again.body, shown);
  assert.equal((await create({ name: 'b' })).body['code'], 'VAL-E005');
  assert.notEqual((await create({ name: 'a' }, 'other')).body['key_id'], first.body['key_id']);
  parts.clock.now += 24 * 3_600_000;
  assert.notEqual((await create({ name: 'b' })).body['key_id'], first.body['key_id']);
});

/** Each makes something with an id of its own: the path, two bodies, and the member of the answer that has the id. */
const MADE = [
  ['/auth/keys', { name: 'a' }, { name: 'b' }, 'key_id'],
  ['/memories', { name: 'notes' }, { name: 'b' }, 'id'],
  ['/memories/default/hooks', { name: 'a' }, { name: 'b' }, 'hook_id'],
  ['/memories/default/subject-requests', { user_id: 'ada' }, { user_id: 'eve' }, 'request_id'],
] as const;

for (const [path, json, other, id] of MADE)
  test(`a change that was interrupted before its answer was kept is not made again by a repeat: ${path}`, async () => {
    const parts = await makeParts();
    const { control } = parts.services;
    const send = (body: object = json) =>
      ask(parts, 'POST', path, { key: ADMIN, json: body, headers: { 'idempotency-key': 'k' } });
    const commit = control.commit.bind(control);
    control.commit = (plan) =>
      commit((change) =>
        plan({
          put: (kind, value) => {
            if (kind === 'reply' && !('isOpen' in value)) throw new Error('the process ended');
            change.put(kind, value);
          },
          renew: (kind, value) => change.renew(kind, value),
          remove: (kind, removed) => change.remove(kind, removed),
          audit: (draft) => change.audit(draft),
          takeMemoryNumber: () => change.takeMemoryNumber(),
        }),
      );
    const count = () => (['key', 'memory', 'hook', 'subjectRequest'] as const).map((kind) => control.count(kind));
    const before = count();
    assert.equal((await send()).body['code'], 'SYS-E001');
    const made = count();
    assert.notDeepEqual(made, before);
    control.commit = commit;
    assert.equal((await send(other)).body['code'], 'VAL-E005');
    const repeated = await send();
    assert.equal(repeated.status, 201, JSON.stringify(repeated.body));
    assert.ok(typeof repeated.body[id] === 'string', JSON.stringify(repeated.body));
    assert.deepEqual(count(), made);
    assert.deepEqual((await send()).body, repeated.body);
  });

test('a token that ends while the body arrives does nothing', async () => {
  const parts = await makeParts();
  const untilMs = parts.clock.nowMs() + 1_000;
  parts.authenticator.authenticate = async () => ({ actor: 'ada', scope: 'write', untilMs });
  const send = (ms: number) =>
    ask(parts, 'POST', '/memories/default/supersede', {
      json: { blob_hash: '0'.repeat(64), object: 'tea' },
      arrives: async () => parts.clock.step(ms),
    });
  assert.equal((await send(999)).body['code'], 'MEM-E001');
  assert.equal((await send(1)).body['code'], 'AUT-E004');
});

test('a request that met too old a copy is answered elsewhere, also when the copy is new again, but not a change that may have run', async () => {
  const tooOld = new EngineError('STO-E002', 'the copy is too old');
  const notSent = new EngineError('STO-E002', 'the copy is too old', { isElsewhere: true });
  let [isNew, met] = [true, tooOld];
  const fail = () => Promise.reject(met);
  const parts = await makeParts({
    copy: { mayBegin: () => isNew, isTooOld: (error) => error === tooOld || error === notSent },
    instead: { list: fail, supersede: fail },
  });
  const read = () => ask(parts, 'GET', '/memories/default/grains', { key: ADMIN });
  assert.equal((await read()).isElsewhere, true);
  isNew = false;
  assert.equal((await read()).isElsewhere, true, 'it does not begin');
  isNew = true;
  const json = { blob_hash: '0'.repeat(64), object: 'tea' };
  const change = () => ask(parts, 'POST', '/memories/default/supersede', { key: ADMIN, json });
  const changed = await change();
  assert.deepEqual([changed.isElsewhere, changed.error], [undefined, tooOld], 'it may have run');
  met = notSent;
  for (const act of [read, change]) assert.equal((await act()).isElsewhere, true);
  met = new EngineError('STO-E002', 'the shard is on no node');
  const refused = await read();
  assert.deepEqual([refused.isElsewhere, refused.error], [undefined, met]);
});

test('a storage failure names no folder of the server to its caller, and the log has it', async () => {
  const logLines: string[] = [];
  const failed = (): Promise<never> =>
    Promise.reject(new EngineError('STO-E001', 'no room in /srv/granary/data/shard-0/log: the disk is full'));
  const parts = await makeParts({ logLines, instead: { statistics: failed } });
  const { body } = await ask(parts, 'GET', '/memories/default/stats', { key: ADMIN });
  assert.equal(body['code'], 'STO-E001');
  assert.match(String(body['message']), /^STO-E001: no room in log: the disk is full$/);
  assert.ok(logLines.some((line) => line.includes('/srv/granary/data/shard-0/log')));
});

test('a bug is SYS-E001 without details, which the log has; no key reaches the log', async () => {
  const logLines: string[] = [];
  const parts = await makeParts({ logLines });
  const answer = await ask(parts, 'POST', '/memories/default/batch-add', {
    key: ADMIN,
    json: { grains: [{ grain_type: 'belief', fields: { ...BELIEF, refuse: true } }] },
  });
  assert.equal(answer.status, 200);
  // The header is known by now.
  parts.services.keys.useAgain = () => {
    throw new Error(`unexpected ${ADMIN}`);
  };
  const broken = await ask(parts, 'GET', '/memories', { key: ADMIN });
  assert.equal(broken.body['code'], 'SYS-E001');
  assert.equal(broken.body['message'], 'SYS-E001: internal error');
  const log = logLines.join('');
  assert.match(log, /unexpected gr_…/);
  assert.doesNotMatch(log, /g[rp]_[0-9a-f]{6}/);
});

test('a call that takes too long is SYS-E005', async () => {
  const parts = await makeParts({
    flags: { requestTimeoutMs: 10 },
    instead: { statistics: () => new Promise(() => undefined) },
  });
  // The timer of the deadline does not keep the process alive; this one does.
  const alive = setInterval(() => undefined, 1_000);
  assert.equal((await ask(parts, 'GET', '/memories/default/stats', { key: ADMIN })).body['code'], 'SYS-E005');
  clearInterval(alive);
});
