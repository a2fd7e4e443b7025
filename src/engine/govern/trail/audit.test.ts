import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { GROUP_WRITES_MAX } from '../../base/limits.ts';
import { grainName } from '../../record/grain-name.ts';
import {
  AUDIT_EVENTS,
  type AuditDraft,
  type AuditEvent,
  canonicalDetails,
  chainDrafts,
  checkChain,
  extendChain,
  GENESIS,
  GrainDetails,
  type NamedGrain,
} from './audit.ts';
import { decodeAuditBody, encodeAuditBody, encodeDrafts, firstSeqIn } from './audit-codec.ts';

const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const name = fc
  .record({ user: fc.nat(), scope: fc.nat(), partition: fc.option(fc.nat({ max: 63 }), { nil: undefined }), hash: hex })
  .map(({ user, scope, partition, hash }) =>
    grainName({
      keys: { user, scope },
      ...(partition === undefined ? {} : { partition }),
      enciphered: Buffer.from(hash, 'hex'),
    }),
  );
const named = (text: string): NamedGrain => ({
  name: text,
  writeName: (into, at) => at + into.write(text, at, 'hex'),
});
const draft: fc.Arbitrary<AuditDraft> = fc.record({
  event: fc.constantFrom(...(Object.keys(AUDIT_EVENTS) as AuditEvent[])),
  actor: fc.constantFrom('anonymous', 'key:key_abc', 'system', 'user:zoë'),
  subject: fc.oneof(
    fc.constant(''),
    hex.map((token) => `user:${token.slice(0, 32)}`),
  ),
  details: fc.oneof(
    hex.map((hash) => ({ grain_type: 'belief', hash })),
    fc.record({ hash: hex, old_hash: hex, count: fc.nat() }),
    fc.record({
      grain: name,
      grain_type: fc.constantFrom('belief', 'consent', 'other'),
      old_grain: name,
      reason_hmac: hex,
    }),
    fc.record({
      grain: fc.oneof(name, fc.stringMatching(/^[0-9a-f]{60,90}$/), fc.stringMatching(/^0[0-9a-g"]{60,90}$/)),
      grain_type: fc.constantFrom('belief', 'consent', 'other'),
    }),
    fc
      .tuple(name, fc.constantFrom('belief', 'event', 'other'))
      .map(([text, type]) => new GrainDetails(named(text), type)),
    fc.record({ grain: name, action: fc.stringMatching(/^[0-9a-f]{60,90}$/) }),
    fc.constant({}),
    fc.dictionary(
      fc.stringMatching(/^[a-z_]{1,9}$/),
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.nat(), fc.boolean()),
    ),
  ),
});

test('an entry is hashed over length-prefixed fields and the previous hash', () => {
  const { entries } = extendChain(
    GENESIS,
    [{ event: 'memory.added', actor: 'a', subject: '', details: { hash: 'x' } }],
    7,
  );
  const field = (text: string) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  };
  const numbers = Buffer.alloc(16);
  numbers.writeBigUInt64BE(1n, 0);
  numbers.writeBigUInt64BE(7n, 8);
  const bytes = Buffer.concat([numbers, ...['memory.added', 'a', '', '{"hash":"x"}', '0'.repeat(64)].map(field)]);
  assert.equal(entries[0]!.hash, createHash('sha256').update(bytes).digest('hex'));
});

test('details are canonical JSON with sorted keys', () => {
  assert.equal(canonicalDetails({ b: 1, a: 'x"', c: true }), '{"a":"x\\"","b":1,"c":true}');
  assert.equal(canonicalDetails({}), '{}');
  const details = { grain_type: 'belief', grain: '03ab' };
  assert.equal(canonicalDetails(new GrainDetails(named('03ab'), 'belief')), canonicalDetails(details));
});

test('a record of entries reads back unchanged, and the chain verifies', () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 20 }), fc.nat({ max: 4_000_000_000 }), (drafts, time) => {
      const { entries, head } = extendChain(GENESIS, drafts, time);
      const body = encodeAuditBody(entries);
      const decoded = decodeAuditBody(body);
      assert.deepEqual(decoded, entries);
      assert.equal(firstSeqIn(body), 1);
      assert.deepEqual(checkChain(GENESIS, decoded), { head });
    }),
  );
});

test('the bytes of the details of each type do not change', () => {
  const types = 'belief event state workflow action observation goal reasoning consensus consent other'.split(' ');
  const hash = 'ab'.repeat(32);
  const drafts = types.flatMap((type): AuditDraft[] =>
    [
      { grain_type: type, hash },
      { grain: hash, grain_type: type },
      { grain: hash, grain_type: type, old_grain: hash },
      { grain: hash, grain_type: type, reason_hmac: hash },
      { hash, old_hash: hash, reason_sha256: hash },
      { grain: hash, reason_hmac: hash },
    ].map((details) => ({ event: 'memory.added', actor: 'a', subject: '', details })),
  );
  const body = encodeAuditBody(extendChain(GENESIS, drafts, 7).entries);
  assert.equal(
    createHash('sha256').update(body).digest('hex'),
    '0621fa85f034221b713ed02485966f7f1d7f02a42b2fd64f1069d1cd17c346b4',
  );
});

test('the details of a grain give the bytes and hashes of their text', () => {
  fc.assert(
    fc.property(
      fc.array(draft, { minLength: 1, maxLength: 20 }),
      fc.nat({ max: 4_000_000_000 }),
      (drafts, timestamp) => {
        const chained = chainDrafts(GENESIS, drafts, timestamp);
        const plain = drafts.map((one): AuditDraft => {
          if (!(one.details instanceof GrainDetails)) return one;
          return { ...one, details: JSON.parse(one.details.canonical) as Record<string, string> };
        });
        const { entries, head } = extendChain(GENESIS, plain, timestamp);
        assert.deepEqual(chained.head, head);
        assert.deepEqual(
          chained.hashes,
          entries.map(({ hash }) => hash),
        );
        assert.deepEqual(encodeDrafts({ seq: 1, timestamp }, drafts, chained), encodeAuditBody(entries));
      },
    ),
  );
});

test('a group of as many callers as it has writes is one record', () => {
  const drafts: AuditDraft[] = Array.from({ length: GROUP_WRITES_MAX }, (_, i) => ({
    event: 'memory.added',
    actor: `key:${i}`,
    subject: '',
    details: {},
  }));
  const { entries } = extendChain(GENESIS, drafts, 7);
  assert.deepEqual(decodeAuditBody(encodeAuditBody(entries)), entries);
  const later = encodeAuditBody(extendChain({ seq: 70_000, hash: GENESIS.hash }, drafts, 7).entries);
  assert.equal(firstSeqIn(later), 70_001);
});

test('an edited, dropped or reordered entry is found at its sequence number', () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 3, maxLength: 12 }), fc.nat(), (drafts, pick) => {
      const { entries } = extendChain(GENESIS, drafts, 1_700_000_000);
      const at = pick % (entries.length - 1);
      const edited = entries.map((entry, i) => (i === at ? { ...entry, actor: `${entry.actor}!` } : entry));
      assert.deepEqual(checkChain(GENESIS, edited), { badSeq: at + 1 });
      assert.deepEqual(
        checkChain(
          GENESIS,
          entries.filter((_, i) => i !== at),
        ),
        { badSeq: at + 1 },
      );
      const swapped = [...entries];
      [swapped[at], swapped[at + 1]] = [swapped[at + 1]!, swapped[at]!];
      assert.deepEqual(checkChain(GENESIS, swapped), { badSeq: at + 1 });
    }),
  );
});

test('a body that a build of log format 6 wrote is read', () => {
  const old = Buffer.from(
    '00000001000200006553f10002000b6b65793a6b65795f616263000673797374656d010025757365723a306630663066306630663066306630663066' +
      '3066306630663066306630663066002a020e0301000000070505050505050505050505050505050505050505050505050505050505050505020f' +
      '4bab7b4fca62454b1ee82e0a6c52b2a905349c189fa01a84a469073b9de7c3ad04010000187b22636f756e74223a332c227175657279223a22c3' +
      'a9227debbc814d99e22a3781442ddc81be8711097e91d7a59ab6c130c385209afba4a9',
    'hex',
  );
  const grain = grainName({ keys: { user: 7, scope: 0 }, enciphered: Buffer.alloc(32, 5) });
  const drafts: AuditDraft[] = [
    {
      event: 'memory.added',
      actor: 'key:key_abc',
      subject: `user:${'0f'.repeat(16)}`,
      details: { grain, grain_type: 'belief' },
    },
    { event: 'memory.recalled', actor: 'system', subject: '', details: { count: 3, query: 'é' } },
  ];
  assert.deepEqual(decodeAuditBody(old), extendChain(GENESIS, drafts, 1_700_000_000).entries);
  assert.equal(firstSeqIn(old), 1);
  assert.throws(() => decodeAuditBody(old.subarray(0, -1)), { name: /AssertionError|RangeError/ });
});

test('a body that is cut short is refused', () => {
  fc.assert(
    fc.property(fc.array(draft, { minLength: 1, maxLength: 5 }), fc.nat(), (drafts, pick) => {
      const body = encodeAuditBody(extendChain(GENESIS, drafts, 7).entries);
      assert.throws(() => decodeAuditBody(body.subarray(0, pick % body.length)));
    }),
  );
});

test('a record of as many persons as a group can have keeps the subject of each', () => {
  const drafts: AuditDraft[] = Array.from({ length: 65_535 }, (_, i) => ({
    event: 'memory.added',
    actor: 'system',
    subject: i % 3 === 0 ? '' : `user:${i.toString(16).padStart(32, '0')}`,
    details: {},
  }));
  const { entries } = extendChain(GENESIS, drafts, 7);
  assert.deepEqual(decodeAuditBody(encodeAuditBody(entries)), entries);
});

test('an entry for an added belief takes 77 bytes, and a person 17 in each record', () => {
  const drafts: AuditDraft[] = Array.from({ length: 100 }, (_, i) => ({
    event: 'memory.added',
    actor: 'key:key_abcdefghijklmnopqrstuvwx',
    subject: `user:${(i % 10).toString(16).padStart(32, '0')}`,
    details: {
      grain: grainName({ keys: { user: 7, scope: 3 }, enciphered: createHash('sha256').update(`${i}`).digest() }),
      grain_type: 'belief',
    },
  }));
  const body = encodeAuditBody(extendChain(GENESIS, drafts, 1_700_000_000).entries);
  assert.ok(body.length <= 60 + 10 * 17 + 100 * 77, `${body.length / 100} bytes an entry`);
});
