// Unknown members of a request: named in the answer with the nearest known name, refused when the request removes or
// governs something, and always under `x-strict: 1`. Over both HTTP listeners and gRPC.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';
import type { HttpAnswer } from './support/server-process.ts';

const BELIEF = { subject: 'Ada', relation: 'drinks', object: 'tea' };

for (const listener of ['uws', 'node'])
  describe(`over the listener ${listener}`, () => {
    const shared = shareServer({ http: listener });
    let own: string;
    before(async () => {
      own = String((await at('POST', '/add', { ...BELIEF, user_id: 'u1' })).body.blob_hash);
    });

    const at = (
      verb: string,
      path: string,
      json?: unknown,
      headers: Record<string, string> = {},
    ): Promise<HttpAnswer> => shared.send(verb, `/memories/default${path}`, json, headers);
    const strict = { 'x-strict': '1' };

    test('a recall with a mistyped member says so, and answers', async () => {
      const { status, body } = await at('POST', '/recall', { userid: 'u9' });
      assert.equal(status, 200);
      assert.deepEqual(body.warnings, ['unknown member `userid` was ignored: did you mean `user_id`?']);
      const strange = await at('POST', '/recall', { query: 'tea', colour: 1, absent: null });
      assert.deepEqual(strange.body.warnings, ['unknown member `colour` was ignored']);
      assert.deepEqual((await at('POST', '/recall', { user_id: 'u1' })).body.warnings, []);
    });

    test('a forget with an unknown member deletes nothing', async () => {
      for (const [body, field] of [
        [{ subject: 'Ada', dryrun: true }, 'dryrun'],
        [{ subject: 'Ada', force: false }, 'force'],
        [{ blob_hash: own, userid: 'u9' }, 'userid'],
      ] as const) {
        const answer = await at('POST', '/forget', body);
        assert.equal(answer.code, 'VAL-E001', JSON.stringify(answer.body));
        assert.equal(answer.body.error.details[0].field, field);
      }
      assert.equal((await at('POST', '/forget?dry_run=true', { subject: 'Ada' })).code, 'VAL-E001');
      assert.equal((await at('GET', `/grains/${own}`)).status, 200);
    });

    test('operations that erase, restrict or change policy refuse unknown members', async () => {
      const exec = (command: string, args: object, more: object = {}) =>
        at('POST', '/app/exec', { command, args, ...more });
      for (const answer of [
        await at('POST', '/scope-erase', { scope_path: 'default', preview: true }),
        await exec('forget_user', { user_id: 'u1', preview: true }),
        await exec('forget_user', { user_id: 'u1' }, { preview: true }),
        await exec('restrict', { user_id: 'u1', until: 5 }),
        await at('PUT', '/policy', { add_policies: [], preview: true }),
        await at('POST', '/consent/revoke', { user_id: 'u1', purpse: 'ads' }),
        await at('POST', '/retention/enforce', { dryrun: true }),
        await at('DELETE', '?preview=true'),
        await at('DELETE', '', { preview: true }),
        await at('DELETE', '/scope-tree', { preview: true }),
      ])
        assert.equal(answer.code, 'VAL-E001', JSON.stringify(answer.body));
      assert.equal((await at('GET', `/grains/${own}`)).status, 200);
    });

    test('x-strict makes every request refuse unknown members', async () => {
      for (const [verb, path, json] of [
        ['POST', '/recall', { userid: 'u9' }],
        ['POST', '/recall?userid=u9', {}],
        ['POST', '/search', { query: 'tea', limt: 2 }],
        ['GET', '/grains?usr_id=u9', undefined],
        ['GET', `/grains/${own}?fields=subject`, undefined],
        ['POST', '/add', { ...BELIEF, userid: 'u1' }],
        ['POST', '/add', { grain_type: 'belief', fields: BELIEF, colour: 1 }],
        ['POST', '/add', { ...BELIEF, options: { snc: true } }],
        ['POST', '/batch-add', { grains: [{ grain_type: 'belief', fields: BELIEF, colour: 1 }] }],
        ['POST', '/batch-add', { grains: [], optoins: {} }],
        ['POST', '/recall-chain', { question: 'who drinks tea', params: { usr_id: 'u1' } }],
        ['POST', '/remember', { text: 'Tea.', extract_mod: 'sync' }],
        ['POST', '/flush', { vectrs: true }],
        ['POST', '/app/exec', { command: 'history', args: { hash: own, limt: 5 } }],
      ] as const) {
        const answer = await at(verb, path, json, strict);
        assert.equal(answer.code, 'VAL-E001', `${verb} ${path} ${JSON.stringify(answer.body)}`);
      }
      assert.equal((await at('POST', '/recall', { user_id: 'u1' }, strict)).status, 200);
      assert.equal((await at('POST', '/add', { ...BELIEF, mood: 'calm' }, strict)).status, 200);
      assert.equal((await at('POST', '/recall', {}, { 'x-strict': 'yes' })).code, 'VAL-E001');
    });

    test('every kind of answer has a place for the warning', async () => {
      const list = await at('GET', '/grains?usr_id=u9');
      assert.deepEqual(list.body.warnings, ['unknown parameter `usr_id` was ignored: did you mean `user_id`?']);
      const one = await at('GET', `/grains/${own}?fields=subject`);
      assert.deepEqual(one.body.warnings, ['unknown parameter `fields` was ignored']);
      const chain = await at('POST', '/recall-chain', { question: 'who drinks tea', params: { usr_id: 'u1' } });
      assert.deepEqual(chain.body.warnings, ['unknown member `params.usr_id` was ignored: did you mean `user_id`?']);
      const command = await at('POST', '/app/exec', { command: 'history', args: { hash: own, limt: 5 } });
      assert.deepEqual(command.body.warnings, ['unknown member `args.limt` was ignored']);
      const raw = await fetch(`${shared.server.http}/api/memories/default/grains/${own}/raw?colour=1`, {
        headers: { authorization: `Bearer ${shared.server.key}` },
      });
      assert.deepEqual(JSON.parse(decodeURI(raw.headers.get('x-warnings') ?? '')), [
        'unknown parameter `colour` was ignored',
      ]);
    });

    test('an extra field is kept, and one that looks like a slip of a common field is reported', async () => {
      const flat = await at('POST', '/add', { ...BELIEF, object: 'milk', userid: 'u1', mood: 'calm' });
      assert.deepEqual(flat.body.warnings, ['`userid` was kept as an extra field: did you mean `user_id`?']);
      const { body } = await at('GET', `/grains/${flat.body.blob_hash}`);
      assert.deepEqual([body.fields.userid, body.fields.mood], ['u1', 'calm']);
      const nested = await at('POST', '/add', {
        grain_type: 'belief',
        fields: { ...BELIEF, object: 'rum', namspace: 'n' },
        colour: 1,
      });
      assert.deepEqual(nested.body.warnings, [
        'unknown member `colour` was ignored',
        '`namspace` was kept as an extra field: did you mean `namespace`?',
      ]);
      const batch = await at('POST', '/batch-add', {
        grains: [
          { grain_type: 'event', fields: { content: 'one' } },
          { grain_type: 'event', fields: { content: 'two', sessionId: 's' }, colour: 1 },
        ],
      });
      assert.equal(batch.body.total_added, 2);
      assert.deepEqual(batch.body.warnings, [
        'unknown member `grains[1].colour` was ignored',
        '`grains[1].sessionId` was kept as an extra field: did you mean `session_id`?',
      ]);
    });

    test('the first of very many are named and the others counted', async () => {
      const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`stranger_${at}`, at]));
      const { warnings } = (await at('POST', '/recall', many)).body;
      assert.deepEqual([warnings.length, warnings.at(-1)], [21, '30 more unknown members were ignored']);
    });
  });

describe('over gRPC', () => {
  const shared = shareServer();

  /** A message with a field that no message of the contract has: number 999, a varint. */
  const withStranger = (bytes: Buffer) => Buffer.concat([bytes, Buffer.from([0xb8, 0x3e, 1])]);

  test('a field that the message does not have is named, or refused', async () => {
    const added = await shared.grpc.call('Add', { grain_type: 'belief', fields_json: JSON.stringify(BELIEF) });
    const ask = (rpc: string, message: object, more: Record<string, string> = {}) =>
      shared.grpc.askEdited(rpc, message, withStranger, more);
    const { message } = await ask('Recall', { query: 'tea' });
    assert.deepEqual(message.warnings, ['unknown member `field 999` was ignored']);
    assert.equal(message.results.length, 1);
    const got = await ask('Get', { hash: added.hash });
    assert.match(decodeURI(String(got.trailers.get('x-warnings')[0])), /field 999/);
    await assert.rejects(ask('Recall', { query: 'tea' }, { 'x-strict': '1' }), { code: 'VAL-E001' });
    for (const [rpc, message] of [
      ['Forget', { hash: added.hash }],
      ['ForgetUser', { user_id: 'u1' }],
      ['RestrictProcessing', { user_id: 'u1' }],
      ['RevokeConsent', { user_id: 'u1', purpose: 'ads' }],
    ] as const)
      await assert.rejects(ask(rpc, message), { code: 'VAL-E001' });
    assert.equal((await shared.grpc.call('Get', { hash: added.hash })).hash, added.hash);
  });

  test('a slip in fields_json is reported', async () => {
    const fields = { ...BELIEF, object: 'milk', userid: 'u1' };
    const added = await shared.grpc.ask('Add', { grain_type: 'belief', fields_json: JSON.stringify(fields) });
    assert.deepEqual(JSON.parse(decodeURI(String(added.trailers.get('x-warnings')[0]))), [
      '`userid` was kept as an extra field: did you mean `user_id`?',
    ]);
  });
});
