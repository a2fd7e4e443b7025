// No goal becomes its own ancestor, over four partitions: not by writes one after the other, not by two at once, not by a new
// goal whose hash was computed beforehand, and not by an imported file.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeGrain } from '../src/engine/grain/codec/blob.ts';
import { writeContainer } from '../src/engine/grain/codec/container-writer.ts';
import { newMemory } from './conformance/http-driver.ts';
import { shareServer } from './conformance/shared-server.ts';

const { http } = shareServer({ shards: '4', workers: '2', calTier1: 'true' });

const USERS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal'];

/** Goals of different people lie in different partitions. */
async function goals(path: string, count: number): Promise<string[]> {
  const made: string[] = [];
  for (const user_id of USERS.slice(0, count))
    made.push(
      (await http.post(`${path}/add`, { grain_type: 'goal', fields: { description: user_id, user_id } })).blob_hash,
    );
  return made;
}

/** The code of the refusal, or the hash of the new version. */
async function raised(path: string, hash: string, parent: string): Promise<string> {
  const json = { blob_hash: hash, fields: { parent_goals: [parent] } };
  const reply = await http.ask('POST', `${path}/supersede`, { json });
  return reply.status === 200 ? reply.json.new_hash : reply.json.error.code;
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

test('two supersedes at once do not close a cycle together', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  for (let round = 0; round < 10; round += 1) {
    const made = await Promise.all(
      ['x', 'y'].map(async (end, at) => {
        const fields = { description: `${end} ${round}`, user_id: USERS[(round + at) % USERS.length] };
        return (await http.post(`${path}/add`, { grain_type: 'goal', fields })).blob_hash as string;
      }),
    );
    const [one, other] = made as [string, string]; // two were made
    const answers = await Promise.all([raised(path, one, other), raised(path, other, one)]);
    assert.equal(answers.filter(isHash).length, 1, `round ${round}: ${answers}`);
    assert.ok(answers.includes('VAL-E001'), `round ${round}: ${answers}`);
  }
});

test('a ring of goals that all close at once stays open', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  const ring = await goals(path, USERS.length);
  const answers = await Promise.all(ring.map((hash, at) => raised(path, hash, ring[(at + 1) % ring.length]!)));
  assert.equal(answers.filter(isHash).length, ring.length - 1, String(answers));
  assert.equal(answers.filter((code) => code === 'VAL-E001').length, 1);
});

test('CAL closes no cycle', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  const [one, other] = (await goals(path, 2)) as [string, string];
  assert.ok(isHash(await raised(path, one, other)));
  const query = `SUPERSEDE sha256:${other} SET parent_goals = ["${one}"] REASON "again"`;
  const reply = await http.ask('POST', `${path}/app/exec`, { json: { command: 'cal', args: { query } } });
  assert.equal(reply.json.error.code, 'CAL-E017', 'CAL sets no parents');
  const { fields, superseded_by } = await http.get(`${path}/grains/${other}`);
  assert.deepEqual([fields.parent_goals ?? [], superseded_by], [[], undefined]);
});

/** The hash that the goal will have, from a memory that has it already: a caller who chooses the time can compute it. */
async function hashesBeforehand(fields: readonly object[]): Promise<string[]> {
  const path = `/memories/${await newMemory(http, 1)}`;
  const hashes: string[] = [];
  for (const one of fields)
    hashes.push((await http.post(`${path}/add`, { grain_type: 'goal', fields: one })).blob_hash);
  return hashes;
}

const THEN = 1_700_000_000;

for (const partitions of [1, 4])
  describe(`a new goal whose hash is known beforehand, ${partitions} partitions`, () => {
    /** A goal, and for each other user a goal that will stand below it, the last of which it stands below by now. */
    async function closing(path: string, below: readonly string[]) {
      const [top] = (await goals(path, 1)) as [string];
      const fields: object[] = [];
      const hashes = [top];
      for (const user_id of below) {
        const one = { description: 'low', user_id, created_at: THEN, parent_goals: [hashes.at(-1)] };
        fields.push(one);
        hashes.push(...(await hashesBeforehand([one])));
      }
      assert.ok(isHash(await raised(path, top, hashes.at(-1)!)));
      return { fields, hashes: hashes.slice(1) };
    }

    test('it closes no circle by add', async () => {
      for (const user_id of USERS.slice(1)) {
        const path = `/memories/${await newMemory(http, partitions)}`;
        const { fields } = await closing(path, [user_id]);
        const reply = await http.ask('POST', `${path}/add`, { json: { grain_type: 'goal', fields: fields[0] } });
        assert.deepEqual([reply.status, reply.json.error?.code], [400, 'VAL-E001'], user_id);
      }
    });

    test('it closes no circle by a batch, whose other goals are stored', async () => {
      const path = `/memories/${await newMemory(http, partitions)}`;
      const { fields, hashes } = await closing(path, ['bob', 'cyd', 'dan']);
      const grains = [
        { grain_type: 'goal', fields: { description: 'apart', user_id: 'eve' } },
        ...fields.map((one) => ({ grain_type: 'goal', fields: one })),
      ];
      const { added, errors } = await http.post(`${path}/batch-add`, { grains });
      assert.deepEqual(
        errors.map(({ index, code }: { index: number; code: string }) => [index, code]),
        [[3, 'VAL-E001']],
      );
      assert.deepEqual(
        added.map(({ index, blob_hash }: { index: number; blob_hash: string }) => [index, blob_hash]).slice(1),
        [
          [1, hashes[0]],
          [2, hashes[1]],
        ],
      );
    });

    test('it closes no circle by an imported file', async () => {
      const path = `/memories/${await newMemory(http, partitions)}`;
      const { fields, hashes } = await closing(path, ['bob', 'cyd']);
      const elsewhere = `/memories/${await newMemory(http, 1)}`;
      for (const one of fields) await http.post(`${elsewhere}/add`, { grain_type: 'goal', fields: one });
      const { bytes } = await http.ask('GET', `${elsewhere}/export-file`);
      const form = new FormData();
      form.append('file', new Blob([Uint8Array.from(bytes)]), 'f.mg');
      const { imported, errors } = await http.call('POST', `${path}/import-file`, { body: form });
      assert.deepEqual([imported, errors.map(({ code }: { code: string }) => code)], [1, ['VAL-E001']]);
      const stored = await Promise.all(hashes.map((hash) => http.ask('GET', `${path}/grains/${hash}`)));
      assert.deepEqual(stored.map(({ status }) => status).sort(), [200, 404]);
    });

    test('a repeated batch answers as before', async () => {
      const path = `/memories/${await newMemory(http, partitions)}`;
      const [parent] = (await goals(path, 1)) as [string];
      const grains = USERS.map((user_id, at) => ({
        grain_type: 'goal',
        fields: { description: 'low', user_id, parent_goals: [at % 2 === 0 ? parent : '0'.repeat(64)] },
      }));
      const ask = () =>
        http.call('POST', `${path}/batch-add`, { json: { grains }, headers: { 'idempotency-key': 'once' } });
      const first = await ask();
      assert.equal(first.total_added, USERS.length);
      assert.deepEqual(await ask(), first);
    });
  });

for (const partitions of [1, 4])
  test(`accumulate closes no circle, ${partitions} partitions`, async () => {
    const path = `/memories/${await newMemory(http, partitions)}`;
    const made = await goals(path, USERS.length);
    for (const [at, hash] of made.entries()) {
      if (at === 0) continue;
      assert.ok(isHash(await raised(path, hash, made[at - 1]!)));
    }
    for (const below of made.slice(1)) {
      const json = { hash: made[0], deltas: { progress: 0 }, set: { parent_goals: [below] } };
      const reply = await http.ask('POST', `${path}/accumulate`, { json });
      assert.equal(reply.json.error?.code, 'VAL-E001', reply.text);
    }
  });

for (const partitions of [1, 4])
  test(`a link to an old version is checked with the parents of the newest one, ${partitions} partitions`, async () => {
    for (const [at, user_id] of USERS.entries()) {
      const path = `/memories/${await newMemory(http, partitions)}`;
      const next = USERS[(at + 1) % USERS.length]!;
      const oldest = goalOf('oldest', user_id);
      const middle = goalOf('middle', user_id);
      const above = goalOf('above', next, oldest);
      const newest = goalOf('newest', user_id, above);
      assert.deepEqual(await imported(path, [middle, newest, above], [[middle, newest]]), []);
      // With this link the newest version stands below a goal that stands below it.
      assert.match(String(await imported(path, [oldest, middle], [[oldest, middle]])), /was ignored: VAL-E001/);
      const { superseded_by } = await http.get(`${path}/grains/${oldest.address}`);
      assert.equal(superseded_by, undefined, user_id);
    }
  });

type Encoded = ReturnType<typeof encodeGrain>;

function goalOf(description: string, user_id: string, ...parents: readonly Encoded[]): Encoded {
  const parent_goals = parents.map(({ address }) => address);
  return encodeGrain('goal', { created_at: THEN * 1_000, description, goal_state: 'active', user_id, parent_goals });
}

/** Imports a file of these grains and links, and answers with the warnings. */
async function imported(
  path: string,
  grains: readonly Encoded[],
  links: readonly (readonly [Encoded, Encoded])[],
): Promise<readonly string[]> {
  const manifest = new Map(links.map(([old, { address }]) => [old.address, { supersededBy: address }]));
  const blobs = grains.map(({ blob }) => blob);
  const form = new FormData();
  const file = writeContainer(blobs, { sorted: false, deduplicated: true, manifest });
  form.append('file', new Blob([Uint8Array.from(file)]), 'f.mg');
  const { errors, warnings = [] } = await http.call('POST', `${path}/import-file`, { body: form });
  assert.deepEqual(errors, []);
  return warnings;
}

for (const partitions of [1, 4])
  test(`a parent is a goal, unless the caller may not read it, ${partitions} partitions`, async () => {
    const path = `/memories/${await newMemory(http, partitions)}`;
    const hashes: string[] = [];
    for (const object of ['tea', 'coffee', 'milk', 'water'])
      hashes.push(
        (await http.post(`${path}/add`, { subject: object, relation: 'is', object, namespace: 'facts' })).blob_hash,
      );
    const bound = { memory_id: path.split('/').at(-1), namespace: 'plans', scopes: ['read', 'write'] };
    const own = http.with((await http.post('/auth/keys', bound)).raw_key);
    for (const hash of hashes) {
      const goal = { description: `below ${hash}`, parent_goals: [hash] };
      const codes = [
        await http.ask('POST', `${path}/sessions/s/goals/create`, { json: goal }),
        await http.ask('POST', `${path}/add`, { json: { grain_type: 'goal', fields: goal } }),
      ].map(({ status, json }) => [status, json.error?.code]);
      assert.deepEqual(codes, Array(2).fill([400, 'VAL-E001']));
      const { errors } = await http.post(`${path}/batch-add`, { grains: [{ grain_type: 'goal', fields: goal }] });
      assert.equal(errors[0].code, 'VAL-E001');
      const top = await http.post(`${path}/sessions/s/goals/create`, { description: `top ${hash}` });
      assert.equal(await raised(path, top.hash, hash), 'VAL-E001');
      // To the caller of another namespace it is a hash that is not there.
      assert.equal((await own.ask('POST', `${path}/sessions/s/goals/create`, { json: goal })).status, 201);
    }
  });
