// Every rpc, asked by a caller that access tuples let see and change another namespace alone: no answer holds anything of a
// grain that only another principal may see, and no change of it goes through. An rpc without an entry here fails.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient, RPCS } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const CANARY = 'quetzalcoatl';
const PLACE = 'attic';
const FIELDS = {
  subject: 'ada',
  relation: 'likes',
  object: CANARY,
  namespace: PLACE,
  user_id: 'ada',
  session_id: 's1',
};
const MORE = JSON.stringify({ ...FIELDS, object: 'more' });

/** Requests for each rpc; or why there is nothing to ask. `refused` lists the codes of changes. */
interface Asked {
  readonly requests: (hash: string) => readonly object[];
  readonly refused?: RegExp;
}
const reads = (...requests: readonly object[]): Asked => ({ requests: () => requests });
const changes = (requests: Asked['requests'], refused = /^(AUT-E001|MEM-E001)$/): Asked => ({ requests, refused });
const later = 'not in this build yet';

const ASKED: Readonly<Record<string, Asked | string>> = {
  Get: { requests: (hash) => [{ hash }] },
  Recall: reads({ query: CANARY }, { subject: 'ada' }, { query: 'ada likes', explanation: true }),
  RecallChain: reads({ question: `What does ada like? Who is ${CANARY}?` }),
  GetHistory: { requests: (hash) => [{ hash }] },
  CalQuery: {
    requests: (hash) => [
      { query: 'RECALL beliefs' },
      { query: 'RECALL beliefs | GROUP BY object' },
      { query: `HISTORY sha256:${hash}` },
    ],
  },
  Stats: reads({}),
  ExportUser: reads({ user_id: 'ada' }),
  ExportPortability: reads({ user_id: 'ada' }),
  ListProvenance: reads({}),
  GetProvenance: reads({ recall_id: '0'.repeat(64) }),
  ProvenanceSummary: reads({}),
  GetPolicyResolved: reads({}),
  VerifyCompliance: reads({}),
  Flush: reads({}),
  Add: changes(() => [{ grain_type: 'belief', fields_json: MORE }]),
  BatchAdd: 'its items have their own errors: asked below',
  Remember: changes(() => [{ text: 'Ada lives in Paris.', namespace: PLACE }]),
  Supersede: changes((hash) => [{ old_hash: hash, grain_type: 'belief', fields_json: '{"object":"x"}' }]),
  Accumulate: changes((hash) => [{ hash, deltas_json: '{"count":1}' }]),
  Forget: changes((hash) => [{ hash, reason: 'r' }]),
  GrantConsent: changes(() => [{ user_id: 'ada', purpose: 'ads' }]),
  RevokeConsent: changes(() => [{ user_id: 'ada', purpose: 'ads' }]),
  RestrictProcessing: changes(() => [{ user_id: 'ada', reason: 'r' }]),
  LiftRestriction: changes(() => [{ user_id: 'ada' }]),
  ForgetUser: changes(() => [{ user_id: 'ada' }]),
  Health: 'of the server',
  DetectPii: 'of the text that is sent',
  DetectPiiDetailed: 'of the text that is sent',
  GetMetrics: later,
  ListHarnessTemplates: 'of the server',
};

for (const partitions of [1, 4])
  describe(`${partitions} partitions`, () => {
    let server: TestServer;
    let http: HttpClient;
    let mole: GrpcClient;
    let owner: GrpcClient;
    let hash: string;
    const M = `/memories/denied`;
    before(async () => {
      server = await startTestServer({ shards: '4', workers: '1' });
      http = new HttpClient(server.http, server.key);
      await http.post('/memories', { id: 'denied', partitions });
      hash = (await http.post(`${M}/add`, FIELDS)).blob_hash;
      for (const relation of ['editor', 'eraser'])
        await http.post(`${M}/authz/grant`, { subject: 'agent:mole', relation, object: 'namespace:elsewhere' });
      await http.call('PUT', `${M}/policy`, { json: { overrides: { 'access.authz_required': true } } });
      const { raw_key: key } = await http.post('/auth/keys', { principal: 'agent:mole', scopes: ['read', 'write'] });
      mole = GrpcClient.open(server.grpc, key).with({ 'x-memory-id': 'denied' });
      owner = GrpcClient.open(server.grpc, server.key).with({ 'x-memory-id': 'denied' });
    });
    after(() => server.close());

    test('every rpc has an entry', () => {
      assert.deepEqual(
        RPCS.filter((name) => ASKED[name] === undefined),
        [],
      );
    });

    for (const [name, asked] of Object.entries(ASKED)) {
      if (typeof asked === 'string') continue;
      const { refused } = asked;
      test(refused === undefined ? `${name} does not show it` : `${name} does not change it`, async () => {
        for (const request of asked.requests(hash)) {
          const told = await mole.call(name, request).catch((error: unknown) => {
            assert.ok(error instanceof Refusal, String(error));
            return error;
          });
          if (refused !== undefined)
            assert.ok(told instanceof Refusal && refused.test(told.code), JSON.stringify(told));
          if (told instanceof Refusal) continue;
          const text = JSON.stringify(told).replaceAll(JSON.stringify(request).slice(1, -1), '');
          for (const secret of [hash, PLACE]) assert.ok(!text.includes(secret), `${name}: ${text}`);
        }
      });
    }

    test('a batch stores none of it, and the owner still sees the grain as it was', async () => {
      const { results } = await mole.call('BatchAdd', { items: [{ grain_type: 'belief', fields_json: MORE }] });
      assert.match(JSON.stringify(results), /AUT-E001/);
      const shown = await owner.call('Recall', { query: CANARY });
      assert.deepEqual(
        shown.results.map((hit: { readonly hash: string }) => hit.hash),
        [hash],
      );
      assert.equal((await owner.call('Stats', {})).total_grains, 1);
    });
  });
