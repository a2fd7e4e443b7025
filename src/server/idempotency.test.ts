// Idempotency keys on a whole server: each change happens once, and a key covers one request.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from '../../test/support/server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ calTier1: 'true' });
});
after(async () => {
  await server.close();
  assert.deepEqual(server.errors, []);
});

interface CallAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many routes; each test names their members
  readonly body: any;
}

interface Asked {
  readonly json?: unknown;
  readonly body?: FormData;
  readonly once?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function call(verb: string, path: string, { json, body, once, headers }: Asked = {}): Promise<CallAnswer> {
  const response = await fetch(`${server.http}/api${path}`, {
    method: verb,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(once === undefined ? {} : { 'idempotency-key': once }),
      ...headers,
    },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, body: await response.json() };
}

let memories = 0;
async function newMemory(partitions: number): Promise<string> {
  memories += 1;
  const { body } = await call('POST', '/memories', { json: { id: `once-${memories}`, partitions } });
  return `/memories/${body.id}`;
}

const codeOf = ({ body }: CallAnswer): string | undefined => body.error?.code;

for (const partitions of [1, 2]) {
  test(`a repeated rotation of keys rotates once, and a policy is sealed once, ${partitions} partitions`, async () => {
    const memory = await newMemory(partitions);
    const rotate = (once?: string) =>
      call('POST', `${memory}/app/exec`, {
        json: { command: 'rotate_keys', args: { scope: 'memory' } },
        ...(once === undefined ? {} : { once }),
      });
    const rotations = async () => (await call('GET', `${memory}/audit?event_type=key.rotated`)).body.total;
    const first = await rotate('rotate');
    assert.equal(first.status, 200);
    const once = await rotations();
    assert.deepEqual((await rotate('rotate')).body.result, first.body.result);
    assert.equal(await rotations(), once, 'nothing was rotated again');
    await rotate();
    assert.equal(await rotations(), 2 * once);
    const seal = (add_policies: string[]) =>
      call('PUT', `${memory}/policy`, { json: { add_policies, reason: 'test' }, once: 'seal' });
    const sealed = await seal(['gdpr']);
    assert.equal(sealed.body.change, 'upgraded');
    const versions = async () => (await call('GET', `${memory}/policy`)).body.version;
    const version = await versions();
    assert.equal((await seal(['gdpr'])).status, 200);
    assert.equal(await versions(), version, 'the repeat seals no further version');
  });

  test(`a repeated grant does not undo a later revocation, ${partitions} partitions`, async () => {
    const memory = await newMemory(partitions);
    const said = { user_id: 'ann', purpose: 'storage' };
    const first = await call('POST', `${memory}/consent/grant`, { json: said, once: 'grant' });
    assert.equal(first.status, 200);
    assert.equal((await call('POST', `${memory}/consent/revoke`, { json: said, once: 'revoke' })).status, 200);
    assert.deepEqual(await call('POST', `${memory}/consent/grant`, { json: said, once: 'grant' }), first);
    const { body } = await call('GET', `${memory}/consent/status?user_id=ann`);
    assert.equal(body.users[0].purposes[0].status, 'revoked');
    const other = { user_id: 'bob', purpose: 'storage' };
    assert.equal(codeOf(await call('POST', `${memory}/consent/grant`, { json: other, once: 'grant' })), 'VAL-E005');
  });

  test(`a command that changes the memory does so once, ${partitions} partitions`, async () => {
    const memory = await newMemory(partitions);
    const exec = (command: string, args: object, once: string) =>
      call('POST', `${memory}/app/exec`, { json: { command, args }, once });
    const query = 'ADD belief SET subject = "ada" SET relation = "likes" SET object = "tea" REASON "said"';
    const added = await exec('cal', { query }, 'add');
    const { hash } = added.body.result.result;
    assert.equal((await call('GET', `${memory}/grains/${hash.replace('sha256:', '')}`)).status, 200);
    assert.equal((await exec('cal', { query }, 'add')).body.result.result.hash, hash);
    assert.equal(codeOf(await exec('cal', { query: query.replace('tea', 'milk') }, 'add')), 'VAL-E005');
    assert.equal((await call('GET', `${memory}/grains`)).body.total, 1);

    const frozen = await exec('restrict', { user_id: 'ann' }, 'freeze');
    assert.equal(frozen.body.result.restricted, true);
    await exec('unrestrict', { user_id: 'ann' }, 'lift');
    assert.deepEqual((await exec('restrict', { user_id: 'ann' }, 'freeze')).body.result, frozen.body.result);
    assert.deepEqual((await exec('restrictions', {}, 'look')).body.result.restrictions, []);
  });
}

test('a key used for another path, query or person is rejected', async () => {
  const memory = await newMemory(1);
  const made = await Promise.all(
    ['one', 'two'].map((name) => call('POST', '/auth/keys', { json: { name, scopes: ['read'] }, once: name })),
  );
  const [one, two] = made.map(({ body }) => `/auth/keys/${body.key_id}`);
  assert.equal((await call('DELETE', one!, { once: 'gone' })).body.revoked, true);
  assert.equal(codeOf(await call('DELETE', two!, { once: 'gone' })), 'VAL-E005');
  assert.equal((await call('DELETE', one!, { once: 'gone' })).body.revoked, true);

  const enforce = `${memory}/retention/enforce`;
  assert.equal((await call('POST', `${enforce}?dry_run=true`, { once: 'sweep' })).body.dry_run, true);
  assert.equal(codeOf(await call('POST', enforce, { once: 'sweep' })), 'VAL-E005');

  const belief = { subject: 's', relation: 'likes', object: 'tea' };
  const of = (user: string) =>
    call('POST', `${memory}/add`, { json: belief, once: 'add', headers: { 'x-user-id': user } });
  assert.equal((await of('ann')).status, 200);
  assert.equal(codeOf(await of('bob')), 'VAL-E005');
});

test('a repeated file upload matches, whatever its boundary', async () => {
  const memory = await newMemory(1);
  await call('POST', `${memory}/add`, { json: { subject: 's', relation: 'likes', object: 'tea' } });
  const exported = await fetch(`${server.http}/api${memory}/export-file`, {
    headers: { authorization: `Bearer ${server.key}` },
  });
  const bytes = await exported.arrayBuffer();
  const into = await newMemory(1);
  const send = (name: string) => {
    const body = new FormData();
    body.append('file', new Blob([bytes]), name);
    return call('POST', `${into}/import-file`, { body, once: 'file' });
  };
  const first = await send('grains.mg');
  assert.equal(first.body.imported, 1);
  // Every form has its own boundary.
  assert.deepEqual(await send('grains.mg'), first);
  assert.equal(codeOf(await send('others.mg')), 'VAL-E005');
});

test('a bound key gets no kept answer of another key of its principal', async () => {
  const id = (await newMemory(1)).slice('/memories/'.length);
  const keyOf = async (more: object): Promise<{ authorization: string }> => {
    const json = { principal: 'service:two', scopes: ['admin'], ...more };
    return { authorization: `Bearer ${(await call('POST', '/auth/keys', { json })).body.raw_key}` };
  };
  const whole = await keyOf({});
  const bound = await keyOf({ memory_id: id });
  const made = { json: { id: `${id}-of-two`, description: 'secret' }, once: 'two' };
  assert.equal((await call('POST', '/memories', { ...made, headers: whole })).status, 201);
  const refused = await call('POST', '/memories', { ...made, headers: bound });
  assert.deepEqual([refused.status, refused.body.error?.code], [403, 'AUT-E001']);
  const key = { json: { name: 'reader', scopes: ['read'] }, once: 'two keys' };
  const first = await call('POST', '/auth/keys', { ...key, headers: whole });
  assert.deepEqual([first.status, first.body.memory_id], [201, undefined]);
  const second = await call('POST', '/auth/keys', { ...key, headers: bound });
  assert.deepEqual([second.status, second.body.error?.code], [409, 'VAL-E005']);
});
