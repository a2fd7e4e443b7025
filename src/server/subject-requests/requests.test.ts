import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { SUBJECT_REQUEST_KEPT_MS } from '../../engine/base/limits.ts';
import { open as openSealed } from '../../engine/crypto/envelope.ts';
import { MasterKey } from '../../engine/keys/master-key.ts';
import { CorruptRecord } from '../../engine/log/log.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { RecordKeys } from '../control/record-keys.ts';
import { RECORD_KINDS, UNDER_OWN_KEY } from '../control/records.ts';
import { ControlStore } from '../control/store.ts';
import type { SignedProof } from '../proofs/erasure-proof.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { carryRequests, endNames, SubjectRequests } from './requests.ts';

const MASTER = MasterKey.of(Buffer.alloc(32, 9));
const WORDS = ['jabberwocky', 'quetzalcoatl', 'xylophonist', 'kerfuffle', 'zanzibarian'] as const;
const [USER, REQUESTER, NOTE, REASON, END] = WORDS;

function setUp(t: TestContext) {
  const directory = join(temporaryDirectory(t), 'control');
  const disk = new MemoryLogStore();
  const clock = new StepClock();
  const keys = () => new RecordKeys(directory, MASTER, CONTROL_KEY);
  const reopened = (most?: { readonly ofMemory: number; readonly all: number }) => {
    const control = ControlStore.open(new MemoryLog(disk), CONTROL_KEY, clock, keys());
    return { control, requests: new SubjectRequests({ control, clock, controlKey: CONTROL_KEY, most }) };
  };
  return { disk, clock, keys, reopened };
}

const asked = (clock: StepClock) => ({
  userId: USER,
  kind: 'erasure' as const,
  requester: REQUESTER,
  note: NOTE,
  receivedAtMs: clock.nowMs(),
  days: 30,
});
const proof = { user_id: USER, salt: 'salt', signature: 'x' } as unknown as SignedProof; // what the record needs of it

test('a request survives a restart, in full', async (t) => {
  const { clock, reopened } = setUp(t);
  const { control, requests } = reopened();
  const made = await requests.open(1, asked(clock), 'key:a');
  await control.close();
  const again = reopened().requests;
  assert.deepEqual(again.get({ memory: 1, id: made.id }), made);
  assert.deepEqual(
    [again.of(1, USER).length, again.of(1, 'other').length, again.of(2, USER).length, again.of(1).length],
    [1, 0, 0, 1],
  );
  await assert.rejects(again.open(1, asked(clock), 'key:a'), { code: 'DSR-E002' });
});

test('one memory cannot use up the requests of the others', async (t) => {
  const { clock, reopened } = setUp(t);
  const { requests } = reopened({ ofMemory: 2, all: 3 });
  const open = (memory: number, userId: string) => requests.open(memory, { ...asked(clock), userId }, 'key:a');
  await open(1, 'ann');
  await open(1, 'ben');
  await assert.rejects(open(1, 'cid'), { code: 'LIM-E002', message: /a memory keeps 2 requests/ });
  await open(2, 'ann');
  await assert.rejects(open(2, 'ben'), { code: 'LIM-E002', message: /a deployment keeps 3 requests/ });
});

test('once it is closed after an erasure, no version of its record names anybody', async (t) => {
  const { disk, clock, keys, reopened } = setUp(t);
  const { requests } = reopened();
  const { id } = await requests.open(1, asked(clock), `user:${USER}`);
  const which = { memory: 1, id };
  const records = () =>
    [...new MemoryLog(disk.clone()).scan(1)].flatMap((one) =>
      one instanceof CorruptRecord || one.bytes[0] !== RECORD_KINDS.subjectRequest + UNDER_OWN_KEY
        ? []
        : [Buffer.from(one.bytes)],
    );
  const [before] = records();
  assert.ok(before !== undefined);
  await requests.extend(which, { days: 60, reason: REASON }, 'key:a');
  await requests.noteErasure(which, { erasure: { atMs: 1, count: 2, keyFingerprint: 'f'.repeat(16) }, proof });
  const closed = await requests.close(which, { outcome: 'fulfilled', note: END, acts: [], isErased: true }, 'key:a');
  assert.deepEqual(closed.erasure?.count, 2);
  const text = JSON.stringify(closed);
  for (const word of WORDS) assert.ok(!text.includes(word), `${word}: ${text}`);
  assert.ok(!text.includes('salt'), 'the proof names nobody');
  assert.equal(requests.of(1, USER)[0]?.id, id, 'it is found by its person');
  // The bytes of an earlier version, as they lie in an old copy.
  const aad = Buffer.from('control subjectRequest');
  const read = (bytes: Buffer): string =>
    openSealed(keys().get(bytes.readUInt32BE(1)), bytes.subarray(5), aad).toString('utf8');
  assert.throws(() => read(before), { code: 'CRY-E002' });
  const [after] = records();
  assert.ok(after !== undefined);
  const stored = read(after);
  for (const word of WORDS) assert.ok(!stored.includes(word), word);
  await assert.rejects(requests.close(which, { outcome: 'refused', note: END, acts: [], isErased: false }, 'key:a'), {
    code: 'DSR-E002',
  });
});

test('an erasure ends the names in closed requests alone, and old ones go with the next', async (t) => {
  const { clock, reopened } = setUp(t);
  const { control, requests } = reopened();
  const first = await requests.open(1, { ...asked(clock), kind: 'access' }, 'key:a');
  await requests.close(
    { memory: 1, id: first.id },
    { outcome: 'fulfilled', note: END, acts: [], isErased: false },
    'a',
  );
  const second = await requests.open(1, asked(clock), 'key:a');
  await control.commit((change) =>
    endNames(change, control.values('subjectRequest'), { memory: 1, userId: USER.toUpperCase() }),
  );
  assert.equal(requests.get({ memory: 1, id: first.id }).userId, USER, 'another person was erased');
  await control.commit((change) => endNames(change, control.values('subjectRequest'), { memory: 1, userId: USER }));
  assert.equal(requests.get({ memory: 1, id: first.id }).userId, undefined);
  assert.equal(requests.get({ memory: 1, id: second.id }).userId, USER, 'an open one is still to be answered');
  clock.step(SUBJECT_REQUEST_KEPT_MS + 1);
  await requests.open(1, { ...asked(clock), userId: 'other' }, 'key:a');
  assert.throws(() => requests.get({ memory: 1, id: first.id }), { code: 'DSR-E001' });
  assert.equal(requests.of(1).length, 2);
});

test('a restored copy takes the requests of the present deployment', async (t) => {
  const now = setUp(t);
  const { requests } = now.reopened();
  const kept = await requests.open(1, asked(now.clock), 'key:a');
  const copy = setUp(t).reopened();
  const gone = await copy.requests.open(1, { ...asked(now.clock), userId: 'gone' }, 'key:a');
  const memory = { number: 1, id: 'default' } as never; // the copy knows a memory of that number
  await copy.control.commit((change) => change.put('memory', memory));
  await copy.control.commit((change) => carryRequests(change, copy.control, [kept, { ...kept, id: 'x', memory: 9 }]));
  assert.deepEqual(copy.requests.of(1), [kept]);
  assert.throws(() => copy.requests.get({ memory: 1, id: gone.id }), { code: 'DSR-E001' });
  assert.equal(copy.requests.of(9).length, 0, 'the copy has no such memory');
});
