// Policies on both transports, in memories of one partition and of four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refused } from './contract.ts';
import type { Fields, ParsedJson } from './driver.ts';
import type { GrpcClient } from './grpc-client.ts';
import type { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { shareServer } from './shared-server.ts';

/** Members that both transports report. */
interface Face {
  /** The hash; `purpose` and `reason` go as headers. */
  add(fields: Fields, headers?: Record<string, string>): Promise<string>;
  get(hash: string): Promise<unknown>;
  forget(hash: string, reason?: string): Promise<unknown>;
  supersede(hash: string, fields: Fields, reason?: string): Promise<unknown>;
  recall(request: Fields): Promise<readonly string[]>;
  grant(user: string, purpose: string): Promise<ParsedJson>;
  revoke(user: string, purpose: string): Promise<ParsedJson>;
  restrict(user: string, reason: string): Promise<ParsedJson>;
  lift(user: string): Promise<ParsedJson>;
  resolved(): Promise<ParsedJson>;
  detect(text: string): Promise<readonly string[]>;
  detailed(text: string): Promise<ParsedJson>;
}

const belief = (fields: Fields): Fields => ({ subject: 'ann', relation: 'likes', object: 'tea', ...fields });
const withReason = (reason: string | undefined) => (reason === undefined ? {} : { 'x-reason': reason });

function overHttp(http: HttpClient, M: string): Face {
  const post = (path: string, json: unknown, headers = {}): Promise<ParsedJson> =>
    http.post(`${M}/${path}`, json, { headers });
  const exec = async (command: string, args: unknown): Promise<ParsedJson> =>
    (await post('app/exec', { command, args }))['result'];
  return {
    add: async (fields, headers = {}) => (await post('add', belief(fields), headers))['blob_hash'],
    get: (hash) => http.get(`${M}/grains/${hash}`),
    forget: (hash, reason) => post('forget', { hash, ...(reason === undefined ? {} : { reason }) }),
    supersede: (hash, fields, reason) => post('supersede', { old_hash: hash, ...fields }, withReason(reason)),
    recall: async (request) => (await post('recall', request))['results'].map(({ hash }: ParsedJson) => hash),
    grant: (user, purpose) => post('consent/grant', { user_id: user, purpose }),
    revoke: (user, purpose) => post('consent/revoke', { user_id: user, purpose }),
    restrict: (user, reason) => exec('restrict', { user_id: user, reason }),
    lift: (user) => exec('unrestrict', { user_id: user }),
    resolved: () => exec('policy_resolved', {}),
    detect: async (text) => (await post('detect-pii', { text }))['detections'],
    detailed: (text) => post('detect-pii', { content: text, detailed: true }),
  };
}

function overGrpc(grpc: GrpcClient): Face {
  const hashed = ({ hash, ...policy }: ParsedJson): ParsedJson => ({ ...policy, blob_hash: hash });
  return {
    add: async (fields, headers = {}) =>
      (await grpc.with(headers).call('Add', { grain_type: 'belief', fields_json: JSON.stringify(belief(fields)) }))
        .hash,
    get: (hash) => grpc.call('Get', { hash }),
    forget: (hash, reason) => grpc.with(withReason(reason)).call('Forget', { hash }),
    supersede: (hash, fields, reason) =>
      grpc.with(withReason(reason)).call('Supersede', {
        old_hash: hash,
        grain_type: 'belief',
        fields_json: JSON.stringify(fields),
      }),
    recall: async (request) => (await grpc.call('Recall', request)).results.map(({ hash }: ParsedJson) => hash),
    grant: async (user, purpose) => hashed(await grpc.call('GrantConsent', { user_id: user, purpose })),
    revoke: async (user, purpose) => hashed(await grpc.call('RevokeConsent', { user_id: user, purpose })),
    restrict: (user, reason) => grpc.call('RestrictProcessing', { user_id: user, reason }),
    lift: (user) => grpc.call('LiftRestriction', { user_id: user }),
    resolved: async () => {
      const { policy_json: json, ...policy } = await grpc.call('GetPolicyResolved', {});
      return { ...policy, policy: JSON.parse(json) };
    },
    detect: async (text) => (await grpc.call('DetectPii', { text })).detections,
    detailed: (text) => grpc.call('DetectPiiDetailed', { text }),
  };
}

const shared = shareServer({ shards: '4', workers: '2' });
const { http } = shared;

const FACES = [
  ['HTTP', 4],
  ['gRPC', 1],
] as const;

for (const [transport, partitions] of FACES)
  describe(`${transport}, ${partitions} partitions`, { concurrency: 4 }, () => {
    async function open(options: Fields = {}): Promise<{ face: Face; M: string }> {
      const id = await newMemory(http, partitions, options);
      const M = `/memories/${id}`;
      if (transport === 'HTTP') return { face: overHttp(http, M), M };
      const client = shared.grpc.with({ 'x-memory-id': id });
      return { face: overGrpc(client), M };
    }
    const put = (M: string, change: Fields): Promise<ParsedJson> => http.call('PUT', `${M}/policy`, { json: change });

    test('consent is enforced in every partition, whatever places a grain', async () => {
      const { face, M } = await open({ policies: ['GDPR'] });
      await refused(face.add({ user_id: 'u1' }), 'POL-E002');
      const granted = await face.grant('u1', 'storage');
      assert.deepEqual([granted['user_id'], granted['purpose'], granted['status']], ['u1', 'storage', 'granted']);
      for (let at = 0; at < 12; at++) await face.add({ user_id: 'u1', session_id: `s${at}`, object: `cup ${at}` });
      await refused(face.add({ user_id: 'u1', object: 'x' }, { 'x-purpose': 'marketing' }), 'POL-E002');
      await face.grant('u1', 'storage');
      const revoked = await face.revoke('u1', 'storage');
      for (let at = 0; at < 12; at++)
        await refused(face.add({ user_id: 'u1', session_id: `s${at}`, object: `glass ${at}` }), 'POL-E002');
      const optedOut = await face.revoke('u9', 'mail');
      assert.equal(optedOut['status'], 'revoked');
      const { users, total } = await http.get(`${M}/consent/status`);
      assert.equal(total, 2);
      assert.deepEqual(
        users.map((user: ParsedJson) => [user['user_id'], user['restricted'], user['purposes'].length]),
        [
          ['u9', false, 1],
          ['u1', false, 1],
        ],
      );
      const [record] = (await http.get(`${M}/consent/status?user_id=u1&purpose=storage`)).users[0].purposes;
      assert.deepEqual([record.status, record.hash], ['revoked', revoked['blob_hash']]);
      assert.ok(record.revoked_at >= record.granted_at);
    });

    test('consent/status answers what enforcement does, with the purpose that decides', async () => {
      const { face, M } = await open({ policies: ['GDPR'] });
      const asMarketing = { 'x-purpose': 'marketing' };
      const shown = async (query: string) => {
        const { users } = await http.get(`${M}/consent/status?user_id=u1${query}`);
        return users[0].purposes.map(({ purpose, status, decided_by }: ParsedJson) => [purpose, status, decided_by]);
      };
      await face.grant('u1', 'marketing');
      assert.deepEqual(await shown(''), [['marketing', 'granted', 'marketing']]);
      const withdrawn = await face.revoke('u1', '*');
      await refused(face.add({ user_id: 'u1' }, asMarketing), 'POL-E002');
      const both = [
        ['*', 'revoked', '*'],
        ['marketing', 'revoked', '*'],
      ];
      assert.deepEqual(await shown(''), both);
      assert.deepEqual(await shown('&purpose=marketing'), [['marketing', 'revoked', '*']]);
      assert.deepEqual(await shown('&purpose=never-named'), [['never-named', 'revoked', '*']]);
      const { users } = await http.get(`${M}/consent/status?purpose=never-named`);
      assert.equal(users[0].purposes[0].hash, withdrawn['blob_hash']);
      const exported = await http.get(`${M}/export/u1`);
      assert.deepEqual(
        exported.consents.map(({ purpose, status, decided_by }: ParsedJson) => [purpose, status, decided_by]),
        both,
      );
      await face.grant('u1', '*');
      await face.add({ user_id: 'u1', object: 'milk' }, asMarketing);
      assert.deepEqual(await shown('&purpose=marketing'), [['marketing', 'granted', '*']]);
    });

    test('a restricted user is frozen until the restriction is lifted', async () => {
      const { face, M } = await open();
      const hashes: string[] = [];
      for (let at = 0; at < 6; at++)
        hashes.push(await face.add({ user_id: 'u1', session_id: `s${at}`, object: `green tea ${at}` }));
      const other = await face.add({ user_id: 'u2', object: 'green tea' });
      const counter = { subject: 'visits', relation: 'of' };
      await face.add({ user_id: 'u1', ...counter, object: 'ann', n: 1 });
      // Older ones of others, in any partition, do not take the place of the newest.
      for (const user of ['u2', 'u3', 'u4', 'u5'])
        await face.add({ user_id: user, ...counter, object: user, n: 1, created_at: 1_700_000_000 });
      const first = await face.restrict('u1', 'contested');
      assert.deepEqual([first['user_id'], first['restricted']], ['u1', true]);
      assert.deepEqual(await face.restrict('u1', 'again'), first);
      assert.deepEqual(await face.recall({ query: 'green tea' }), [other]);
      await refused(face.recall({ query: 'green tea', user_id: 'u1' }), 'POL-E008');
      for (const hash of hashes) await refused(face.get(hash), 'POL-E008');
      await refused(face.forget(hashes[0]!), 'POL-E008');
      // By subject too: if a frozen grain is among those named, none is forgotten.
      const { subject } = (await http.get(`${M}/grains/${other}`)).fields;
      await refused(http.post(`${M}/forget`, { subject }), 'POL-E008');
      await refused(http.post(`${M}/forget`, { hashes: [other, hashes[0]] }), 'POL-E008');
      assert.equal((await http.get(`${M}/grains/${other}`)).version_status, 'current');
      await refused(http.post(`${M}/accumulate`, { hash: hashes[0], deltas: { n: 1 } }), 'POL-E008');
      await refused(http.post(`${M}/accumulate`, { ...counter, deltas: { n: 1 } }), 'POL-E008');
      await refused(face.supersede(hashes[0]!, { object: 'x' }), 'POL-E008');
      await refused(face.add({ user_id: 'u1', session_id: 's9' }), 'POL-E008');
      await refused(face.grant('u1', 'storage'), 'POL-E008');
      await face.revoke('u1', 'storage');
      const { result } = await http.post(`${M}/app/exec`, { command: 'restrictions', args: {} });
      assert.deepEqual([result.total, result.restrictions[0].reason], [1, 'contested']);
      assert.equal((await face.lift('u1'))['restricted'], false);
      assert.equal((await face.recall({ query: 'green tea' })).length, 7);
    });

    test('a policy is changed by its rules, and every partition enforces it', async () => {
      const { face, M } = await open({
        policies: ['strict-deletion'],
        guardrail_patterns: ['x ray'],
        guardrail_mode: 'contains',
      });
      const hash = await face.add({ user_id: 'u1' });
      await refused(face.add({ object: 'an X  RAY' }), 'POL-E012');
      await refused(face.forget(hash), 'POL-E001');
      await refused(face.forget(hash, 'old'), 'POL-E002');
      await face.grant('u1', 'deletion');
      await refused(put(M, { add_policies: ['nonsense'] }), 'POL-E009');
      await refused(put(M, { overrides: { 'no.rule': true } }), 'POL-E009');
      await refused(put(M, { remove_policies: ['strict_deletion'] }), 'POL-E010');
      const simulated = await http.post(`${M}/policy/simulate`, { add_policies: ['legal_hold'] });
      assert.deepEqual([simulated.change, simulated.allowed, simulated.impact.grains_total], ['upgraded', true, 2]);
      const sealed = await put(M, { add_policies: ['legal_hold'], reason: 'a case' });
      assert.deepEqual(
        [sealed['version'], sealed['presets'], sealed['change']],
        [2, ['legal_hold', 'strict_deletion'], 'upgraded'],
      );
      assert.equal(sealed['seal_hash'], simulated.proposed.seal_hash);
      const policy = await face.resolved();
      assert.deepEqual(
        [policy['version'], policy['seal_hash'], policy['policy'].sealed],
        [2, sealed['seal_hash'], true],
      );
      for (let at = 0; at < 6; at++) {
        const added = await face.add({ session_id: `s${at}`, object: `cup ${at}` });
        await refused(face.forget(added, 'old'), 'POL-E003');
      }
      await refused(http.call('DELETE', M), 'POL-E003');
      await refused(http.post(`${M}/forget`, { user_id: 'u1' }), 'POL-E003');
      const { policies, guardrail_patterns } = await http.get(M);
      assert.deepEqual([policies, guardrail_patterns], [['legal_hold', 'strict_deletion'], ['x ray']]);
      await refused(put(M, { remove_policies: ['legal_hold'], reason: 'because' }), 'POL-E010');
      const released = await put(M, { remove_policies: ['legal_hold'], reason: 'release: closed' });
      assert.deepEqual([released['version'], released['change']], [3, 'downgraded']);
      assert.equal((await http.get(`${M}/policy?version=2`)).seal_hash, sealed['seal_hash']);
      await face.forget(hash, 'old');
      const limited = await put(M, { overrides: { access: { max_recall_limit: 5 } } });
      assert.equal(limited['change'], 'upgraded');
      await refused(face.recall({ query: 'cup', limit: 6 }), 'POL-E013');
      assert.equal((await face.recall({ query: 'cup', limit: 5 })).length, 5);
      const asked = (query: string): Promise<ParsedJson> =>
        http.post(`${M}/app/exec`, { command: 'cal', args: { query } });
      await refused(asked('RECALL beliefs LIMIT 6'), 'POL-E013');
      assert.equal((await asked('RECALL beliefs'))['result'].result.grains.length, 5);
      assert.equal((await asked('(RECALL beliefs) UNION (RECALL events)'))['result'].result.grains.length, 5);
      const { entries } = await http.get(`${M}/audit?event_type=policy.enforced&limit=500`);
      const capped = entries.filter(({ details }: ParsedJson) => details['code'] === 'POL-E013');
      // One entry each, however many partitions were asked.
      assert.equal(capped.length, 2);
      assert.ok(capped.some(({ details }: ParsedJson) => details['operation'] === 'cal'));
    });

    test('a read rejected by a restriction is in the trail once', async () => {
      const { face, M } = await open();
      const hash = await face.add({ user_id: 'u1', session_id: 's1' });
      await face.restrict('u1', 'contested');
      await refused(face.get(hash), 'POL-E008');
      await refused(face.recall({ query: 'tea', user_id: 'u1' }), 'POL-E008');
      const { entries } = await http.get(`${M}/audit?event_type=policy.enforced`);
      assert.equal(entries.length, 2);
      assert.ok(entries.some(({ grain_hash }: ParsedJson) => grain_hash === hash));
    });

    test('no version of a goal creates a cycle, in whatever partition the others are', async () => {
      const { M } = await open();
      const goal = async (at: string, ...parents: string[]): Promise<string> => {
        const fields = { description: `goal ${at}`, parent_goals: parents, session_id: `session ${at}` };
        return (await http.post(`${M}/batch-add`, { grains: [{ grain_type: 'goal', fields }] }))['added'][0].blob_hash;
      };
      const top = await goal('top');
      const middle = await goal('middle', top);
      const low = await goal('low', middle);
      const reparent = (hash: string, ...parents: string[]): Promise<ParsedJson> =>
        http.post(`${M}/supersede`, { old_hash: hash, grain_type: 'goal', fields: { parent_goals: parents } });
      for (const parent of [top, middle, low]) await refused(reparent(top, parent), 'VAL-E001');
      await refused(reparent(middle, top, low), 'VAL-E001');
      assert.ok((await reparent(low, top))['new_hash']);
    });

    test('personal data in texts is detected, and handled before a grain is hashed', async () => {
      const { face, M } = await open({ policies: ['pii_block'] });
      const text = 'Grüße: mail ann@example.org today';
      assert.deepEqual(await face.detect(text), ['email']);
      const { matches, count } = await face.detailed(text);
      const [{ category, matched_text, start, end }] = matches;
      assert.deepEqual([count, category, matched_text], [1, 'email', 'ann@example.org']);
      assert.equal(Buffer.from(text).subarray(start, end).toString(), 'ann@example.org');
      await refused(face.add({ object: text }), 'POL-E005');
      assert.equal(await http.get(`${M}/grains`).then(({ total }) => total), 0);
    });
  });

test('a consent has all its members on every write path', async () => {
  const id = await newMemory(http, 1, { policies: ['gdpr'] });
  const M = `/memories/${id}`;
  const grpc = shared.grpc.with({ 'x-memory-id': id });
  const fields = { user_id: 'u1', scope: 'storage', note: 'a story that nobody agreed to' };
  const { note: _, ...plain } = fields;
  const batch = await http.post(`${M}/batch-add`, {
    grains: [
      { grain_type: 'consent', fields },
      { grain_type: 'consent', fields: plain },
    ],
  });
  assert.deepEqual([batch.errors.map(({ code }: ParsedJson) => code), batch.total_added], [['VAL-E001'], 1]);
  const json = (value: Fields) => ({ grain_type: 'consent', fields_json: JSON.stringify(value) });
  await refused(grpc.call('Add', json(fields)), 'VAL-E001');
  const { blob_hash } = batch.added[0];
  const because = { 'x-reason': 'said again' };
  const next = { old_hash: blob_hash, grain_type: 'consent', fields: { note: fields.note } };
  await refused(http.post(`${M}/supersede`, next, { headers: because }), 'VAL-E001');
  await refused(
    grpc.with(because).call('Supersede', { ...json({ note: fields.note }), old_hash: blob_hash }),
    'VAL-E001',
  );
  const query = 'ADD consent SET user_id = "u1" SET note = "a story" REASON "r"';
  await refused(http.post(`${M}/app/exec`, { command: 'cal', args: { query } }), 'CAL-E051');
  await refused(
    http.post(`${M}/consent/revoke`, { user_id: 'u1', purpose: 'x', reason: 'r'.repeat(2000) }),
    'VAL-E001',
  );
  assert.equal((await http.get(`${M}/grains`)).total, 1);
});

test('personal data is kept out of every field that a request can fill', async () => {
  const M = `/memories/${await newMemory(http, 1, { policies: ['pii_block'] })}`;
  const ssn = '219-09-9998';
  for (const [field, value] of Object.entries({
    tags: [ssn],
    session_id: ssn,
    namespace: ssn,
    user_id: ssn,
    source_type: ssn,
    author_did: ssn,
    related_to: [{ hash: 'a'.repeat(64), relation_type: ssn }],
    content_refs: [{ uri: 'urn:x', modality: ssn }],
    provenance_chain: [{ method: ssn }],
    role: ssn,
    note: 4111111111111111,
    [ssn]: true,
  }))
    await refused(http.post(`${M}/add`, belief({ [field]: value })), 'POL-E005');
  const others = [
    { grain_type: 'action', fields: { tool_name: ssn, input: {} } },
    { grain_type: 'action', fields: { tool_name: 'x', input: { schema: { title: ssn } } } },
    { grain_type: 'observation', fields: { content: 'x', observer_id: ssn } },
  ];
  const { errors } = await http.post(`${M}/batch-add`, { grains: others });
  assert.deepEqual(
    errors.map(({ code }: ParsedJson) => code),
    ['POL-E005', 'POL-E005', 'POL-E005'],
  );
  assert.equal((await http.get(`${M}/grains`)).total, 0);
  const { blob_hash } = await http.post(`${M}/add`, belief({ user_id: 'ann@example.org', session_id: 's1' }));
  assert.ok(blob_hash);
});

test('a guardrail also checks look-alike characters and field names', async () => {
  const M = `/memories/${await newMemory(http, 1, { guardrail_patterns: ['Project X'], guardrail_mode: 'contains' })}`;
  const disguised: Fields[] = [
    { object: 'all of prоject-х' }, // Cyrillic о, х
    { object: 'p̷r̷o̷j̷e̷c̷t̷ x' },
    { object: 'PR0JECT_X' },
    { tags: ['project.x'] },
    { projectX: 1 },
    { note: { project_x: 1 } },
  ];
  for (const fields of disguised) await refused(http.post(`${M}/add`, belief(fields)), 'POL-E012');
  await http.post(`${M}/add`, belief({ object: 'another project' }));
  assert.equal((await http.get(`${M}/grains`)).total, 1);
});

test('many consents are granted at once, and each failure has its reason', async () => {
  const id = await newMemory(http, 4);
  const M = `/memories/${id}`;
  await http.post(`${M}/app/exec`, { command: 'restrict', args: { user_id: 'u2', reason: 'x' } });
  const answer = await http.post(`${M}/consent/grant-bulk`, { user_ids: ['u1', 'u2', '', 'u3'], purpose: 'storage' });
  assert.deepEqual(
    [answer.total_granted, answer.granted.map(({ user_id }: ParsedJson) => user_id), answer.total_errors],
    [2, ['u1', 'u3'], 2],
  );
  assert.deepEqual(
    new Map(answer.errors.map(({ index, code }: ParsedJson) => [index, code])),
    new Map([
      [1, 'POL-E008'],
      [2, 'VAL-E001'],
    ]),
  );
  assert.match(answer.errors.at(-1).error, /^VAL-E001: a user_id has 1 to \d+ characters, and a purpose 1 to \d+$/);
  const pairs = await http.post(`${M}/consent/grant-bulk`, { consents: [{ user_id: 'u4', purpose: 'mail' }] });
  assert.equal(pairs.total_granted, 1);
  await refused(http.post(`${M}/consent/grant-bulk`, { user_ids: ['u1'] }), 'VAL-E003');
  const both = { user_ids: ['u5'], purpose: 'mail', consents: [{ user_id: 'u6', purpose: 'mail' }] };
  await refused(http.post(`${M}/consent/grant-bulk`, both), 'VAL-E001');
});

test('retention is reported by namespace and enforced', async () => {
  const id = await newMemory(http, 4, { policies: ['retention_30d'] });
  const M = `/memories/${id}`;
  const now = Math.floor(Date.now() / 1000);
  for (let at = 0; at < 6; at++)
    await http.post(`${M}/add`, {
      ...belief({ object: `tea ${at}` }),
      session_id: `s${at}`,
      created_at: now - 31 * 86_400,
    });
  await http.post(`${M}/add`, belief({ object: 'fresh tea' }));
  const { grains } = await http.get(`${M}/grains`);
  assert.equal(grains.length, 1);
  const status = await http.get(`${M}/retention/status`);
  const [row] = status.namespaces;
  assert.deepEqual(
    [status.default_ttl_days, row.namespace, row.ttl_days, row.source, row.grains, row.expired, row.held],
    [30, 'default', 30, 'default', 7, 6, 0],
  );
  assert.equal(status.last_enforced_at, null);
  const dry = await http.post(`${M}/retention/enforce`, { dry_run: true });
  assert.deepEqual([dry.expired, dry.forgotten, dry.dry_run], [6, 0, true]);
  const done = await http.post(`${M}/retention/enforce`, {});
  assert.deepEqual([done.expired, done.forgotten, done.by_namespace.default.forgotten], [6, 6, 6]);
  const { last_enforced_at: enforcedAt } = await http.get(`${M}/retention/status`);
  assert.ok(enforcedAt >= now, String(enforcedAt));
});

test('a goal that is older than its memory keeps goals is created, and hidden at once', async () => {
  const M = `/memories/${await newMemory(http, 4, { policies: ['retention_30d'] })}`;
  const created_at = Math.floor(Date.now() / 1000) - 31 * 86_400;
  const goal = { description: 'an old goal', created_at };
  for (const headers of [{ 'idempotency-key': 'old' }, { 'idempotency-key': 'old' }]) {
    const { status, json } = await http.ask('POST', `${M}/sessions/s1/goals/create`, { json: goal, headers });
    assert.deepEqual([status, json.description, json.created_at], [201, goal.description, created_at]);
    assert.match(json.warnings.join(), /older than the policy keeps goals/);
  }
  assert.deepEqual((await http.get(`${M}/sessions/s1/goals`)).goals, []);
  assert.equal((await http.get(`${M}/retention/status`)).namespaces[0].expired, 1);
});

test('enforced retention counts a thousand namespaces one by one, those with most expired grains', async () => {
  const M = `/memories/${await newMemory(http, 4, { policies: ['retention_30d'] })}`;
  const created_at = Math.floor(Date.now() / 1000) - 31 * 86_400;
  const grain = (at: number) => ({
    grain_type: 'belief',
    fields: belief({ object: `${at}`, namespace: `n${at}`, created_at }),
  });
  for (const from of [0, 600])
    await http.post(`${M}/batch-add`, { grains: Array.from({ length: 600 }, (_, at) => grain(from + at)) });
  await http.post(`${M}/add`, belief({ object: 'a second one', namespace: 'n1199', created_at }));
  const done = await http.post(`${M}/retention/enforce`, {});
  assert.deepEqual([done.forgotten, done.namespaces_total], [1_201, 1_200]);
  const names = Object.keys(done.by_namespace);
  assert.deepEqual([names.length, names[0], done.by_namespace['n1199'].forgotten], [1_000, 'n1199', 2]);
});
