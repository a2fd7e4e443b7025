// Manifests of imported files: an entry may do no more than a supersede by the same caller.
import assert from 'node:assert/strict';
import { hash as digest } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { writeContainer } from '../../src/engine/grain/codec/container-writer.ts';
import type { GrainStatus, VerificationStatus } from '../../src/engine/grain/codec/manifest.ts';
import type { Address } from '../../src/engine/grain/grain.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer({ shards: '3' });
});
after(() => server.close());

interface Claim {
  readonly supersededBy?: string;
  readonly verificationStatus?: VerificationStatus;
}
type Claims = Readonly<Record<string, Claim>>;

const NOWHERE = digest('sha256', 'nowhere', 'hex');
const THEN = 1_700_000_000;

class Place {
  readonly id: string;
  readonly http: HttpClient;

  constructor(id: string) {
    this.id = id;
    this.http = new HttpClient(server.http, server.key);
  }

  get path(): string {
    return `/memories/${this.id}`;
  }

  async add(fields: object): Promise<string> {
    const belief = { subject: 'Ada', relation: 'likes', created_at: THEN, ...fields };
    return (await this.http.post(`${this.path}/add`, belief)).blob_hash;
  }

  async blobs(...hashes: readonly string[]): Promise<Uint8Array[]> {
    return Promise.all(
      hashes.map(async (hash) => (await this.http.ask('GET', `${this.path}/grains/${hash}/raw`)).bytes),
    );
  }

  async keyOf(bound: object): Promise<string> {
    const asked = { scopes: ['read', 'write'], principal: 'attacker', memory_id: this.id, ...bound };
    return (await this.http.post('/auth/keys', asked)).raw_key;
  }

  async upload(blobs: readonly Uint8Array[], claims: Claims, key = server.key, reason?: string) {
    const manifest = new Map(Object.entries(claims)) as unknown as Map<Address, GrainStatus>; // hashes in hex are addresses
    const form = new FormData();
    const file = writeContainer(blobs, { sorted: false, deduplicated: false, manifest });
    form.append('file', new Blob([Uint8Array.from(file)]), 'f.mg');
    const headers = reason === undefined ? {} : { 'x-reason': reason };
    return this.http.with(key).call('POST', `${this.path}/import-file`, { body: form, headers });
  }

  async linksOf(hash: string): Promise<readonly [string | undefined, string | undefined]> {
    const grain = await this.http.get(`${this.path}/grains/${hash}`);
    return [grain.superseded_by, grain.fields.verification_status];
  }

  /**
   * The partitions of imported grains, sorted by hash. The order of the audit list does not compare: entries of one second
   * are listed by partition, so it depends on where the second ended.
   */
  async importedInto(): Promise<readonly (readonly [string, number])[]> {
    const { entries } = await this.http.get(`${this.path}/audit?event_type=memory.imported`);
    const found: readonly { grain_hash?: string; partition: number }[] = entries;
    // The entry of the whole file names no grain.
    return found
      .flatMap(({ grain_hash: hash, partition }) => (hash === undefined ? [] : [[hash, partition] as const]))
      .sort(([one], [other]) => (one < other ? -1 : 1));
  }

  async corrections(): Promise<readonly { actor: string; grain_hash?: string; details: Record<string, string> }[]> {
    return (await this.http.get(`${this.path}/audit?event_type=memory.corrected`)).entries;
  }
}

/** Blobs of grains from outside the tested memories. */
async function foreignBlobs(...fields: readonly object[]): Promise<{ hashes: string[]; blobs: Uint8Array[] }> {
  const elsewhere = await newPlace(1);
  const hashes: string[] = [];
  for (const one of fields) hashes.push(await elsewhere.add(one));
  return { hashes, blobs: await elsewhere.blobs(...hashes) };
}

let made = 0;
async function newPlace(partitions: number, more: object = {}): Promise<Place> {
  made += 1;
  const place = new Place(`import-${made}`);
  await place.http.post('/memories', { id: place.id, partitions, ...more });
  return place;
}

for (const partitions of [1, 3])
  describe(`manifests of imports, ${partitions} partitions`, () => {
    test('an entry changes nothing outside the binding, and does not reveal what is there', async () => {
      const place = await newPlace(partitions);
      const victim = await place.add({ namespace: 'n2', object: 'tea' });
      const key = await place.keyOf({ namespace: 'n1' });
      const own = await foreignBlobs({ namespace: 'n1', object: 'a' }, { namespace: 'n1', object: 'b' });
      const [a, b] = [own.hashes[0]!, own.hashes[1]!];
      const stolen = await place.blobs(victim);
      const attack = await place.upload(
        [...own.blobs, ...stolen],
        { [victim]: { supersededBy: a, verificationStatus: 'retracted' } },
        key,
      );
      assert.deepEqual([attack.imported, attack.errors[0].code], [2, 'AUT-E001']);
      assert.deepEqual(await place.linksOf(victim), [undefined, undefined]);
      assert.match(attack.warnings.join('\n'), new RegExp(`${victim} was ignored`));
      assert.deepEqual(await place.corrections(), []);

      const answers: string[] = [];
      for (const outside of [victim, NOWHERE]) {
        const answer = await place.upload(own.blobs, { [b]: { supersededBy: outside } }, key);
        answers.push(JSON.stringify(answer).replaceAll(outside, 'H'));
      }
      assert.equal(answers[0], answers[1]);
      assert.match(answers[0]!, /was ignored: MEM-E001/);
      assert.deepEqual(await place.linksOf(b), [undefined, undefined]);
    });

    test('the partition of a grain does not depend on data outside the binding', async () => {
      const [place, empty] = [await newPlace(partitions), await newPlace(partitions)];
      const key = await place.keyOf({ namespace: 'n1' });
      // Of several such grains, some lie in another partition than the attacker's own would.
      for (let i = 0; i < 6; i += 1) {
        const victim = await place.add({ namespace: 'n2', object: `tea ${i}`, user_id: `user ${i}` });
        const own = await foreignBlobs({ namespace: 'n1', object: `mine ${i}` });
        await place.upload(own.blobs, { [own.hashes[0]!]: { supersededBy: victim } }, key);
        await empty.upload(own.blobs, {});
      }
      const imported = await place.importedInto();
      assert.equal(imported.length, 6);
      assert.deepEqual(imported, await empty.importedInto());
    });

    test('an entry is authorised like a supersede', async () => {
      const place = await newPlace(partitions);
      const locked = await place.add({ object: 'locked', invalidation_policy: { mode: 'locked' } });
      const soft = await place.add({ object: 'soft', invalidation_policy: { mode: 'soft_locked' } });
      const frozen = await place.add({ object: 'frozen', user_id: 'ada' });
      const own = await foreignBlobs({ object: 'mine' }, { object: 'mine too' });
      const [mine, another] = [own.hashes[0]!, own.hashes[1]!];
      const blobs = [...own.blobs, ...(await place.blobs(locked, soft, frozen))];
      await place.http.post(`${place.path}/app/exec`, { command: 'restrict', args: { user_id: 'ada' } });
      const claims: Claims = {
        [locked]: { supersededBy: mine },
        [soft]: { verificationStatus: 'retracted' },
        [frozen]: { supersededBy: another },
      };
      const refused = await place.upload(blobs, claims);
      const warnings: readonly string[] = refused.warnings;
      const codeFor = (hash: string) =>
        warnings.find((warning) => warning.includes(`${hash} was ignored`))?.match(/[A-Z]{3}-E\d{3}/)?.[0];
      assert.deepEqual([codeFor(locked), codeFor(soft), codeFor(frozen)], ['POL-E004', 'POL-E004', 'MEM-E001']);
      assert.deepEqual(
        refused.errors.map(({ code }: { code: string }) => code),
        ['POL-E008'],
      );
      await place.http.post(`${place.path}/app/exec`, { command: 'unrestrict', args: { user_id: 'ada' } });
      for (const hash of [locked, soft, frozen])
        assert.deepEqual(await place.linksOf(hash), [undefined, undefined], hash);
      const enforced = await place.http.get(`${place.path}/audit?event_type=policy.enforced`);
      assert.ok(
        enforced.entries.some((entry: { details: object }) =>
          JSON.stringify(entry.details).includes('"operation":"importStatuses"'),
        ),
      );

      const { warnings: left } = await place.upload(blobs, claims, server.key, 'found wrong');
      assert.equal(left.length, 1, 'a reason unlocks a soft lock');
      assert.deepEqual(await place.linksOf(soft), [undefined, 'retracted']);
    });

    test('a policy that protects versions applies to imports', async () => {
      const place = await newPlace(partitions);
      const old = await place.add({ object: 'old' });
      const own = await foreignBlobs({ object: 'mine' });
      const overrides = { 'supersede.allowed': false };
      await place.http.call('PUT', `${place.path}/policy`, { json: { overrides, reason: 'test' } });
      const blobs = [...own.blobs, ...(await place.blobs(old))];
      const answer = await place.upload(blobs, { [old]: { supersededBy: own.hashes[0]! } });
      assert.match(answer.warnings[0], /POL-E004/);
      assert.deepEqual(await place.linksOf(old), [undefined, undefined]);
    });

    test('accepted entries are audited, and only make a grain less current', async () => {
      const place = await newPlace(partitions);
      const chain = await foreignBlobs({ object: 'one' }, { object: 'two' }, { object: 'three' });
      const [one, two, three] = [chain.hashes[0]!, chain.hashes[1]!, chain.hashes[2]!];
      const claims: Claims = {
        [one]: { supersededBy: two },
        [two]: { verificationStatus: 'retracted' },
      };
      const first = await place.upload(chain.blobs, claims);
      assert.deepEqual([first.imported, first.errors, first.warnings], [3, [], undefined]);
      assert.deepEqual(await place.linksOf(one), [two, undefined]);
      assert.deepEqual(await place.linksOf(two), [undefined, 'retracted']);
      const corrections = await place.corrections();
      assert.equal(corrections.length, 2);

      const again = await place.upload(chain.blobs, claims);
      assert.deepEqual([again.duplicates, again.warnings], [3, undefined], 'a known entry is not a conflict');
      const other: Claims = { [one]: { supersededBy: three }, [two]: { verificationStatus: 'verified' } };
      const conflict = await place.upload(chain.blobs, other);
      assert.equal(conflict.warnings.filter((warning: string) => warning.includes('MEM-E002')).length, 2);
      assert.deepEqual(await place.linksOf(one), [two, undefined]);
      assert.deepEqual(await place.linksOf(two), [undefined, 'retracted']);
      assert.equal((await place.corrections()).length, 2);
    });
  });

test('a link between distant grains of a file is kept', async () => {
  const source = await newPlace(1);
  const old = await source.add({ object: 'old' });
  const fields = (i: number) => ({ grain_type: 'event', fields: { content: `filler ${i}`, created_at: THEN + i } });
  for (let from = 0; from < 1_200; from += 600)
    await source.http.post(`${source.path}/batch-add`, {
      grains: Array.from({ length: 600 }, (_, i) => fields(from + i)),
    });
  const next = await source.http.post(`${source.path}/supersede`, { blob_hash: old, object: 'new' });
  const { bytes } = await source.http.ask('GET', `${source.path}/export-file`);
  for (const partitions of [1, 3]) {
    const copy = await newPlace(partitions);
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(bytes)]), 'f.mg');
    const answer = await copy.http.call('POST', `${copy.path}/import-file`, { body: form });
    assert.deepEqual([answer.imported, answer.warnings], [1_202, undefined]);
    assert.deepEqual(await copy.linksOf(old), [next.new_hash, undefined]);
  }
});
