import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import {
  addressBytes,
  addressOf,
  formatAddress,
  isAddress,
  parseAddress,
  sameAddress,
  verifyAddress,
} from '../address.ts';
import { GrainError, toEngineError } from '../error.ts';
import { mulberry } from '../random.fixture.ts';
import { Float, setOwn, type Value, type ValueMap } from '../value.ts';
import { decodeAny, decodeGrain, encodeGrain, openGrain } from './blob.ts';
import { identityBytes } from './identity.ts';

const T = 1768471200000;
const BELIEF: ValueMap = { subject: 's', relation: 'r', object: 'o', confidence: 0.5, created_at: T };
const ADDRESS = 'ab'.repeat(32);

function refused(type: string, fields: ValueMap, code: string): void {
  assert.throws(
    () => encodeGrain(type, fields),
    (error) => error instanceof GrainError && error.code === code,
    code,
  );
}

function warned(type: string, fields: ValueMap, word: string): void {
  const { warnings } = encodeGrain(type, fields);
  assert.ok(
    warnings.some((warning) => warning.includes(word)),
    `${word}: ${warnings.join('; ')}`,
  );
}

test('unknown, old and reserved type names are refused', () => {
  for (const type of ['', 'episode', 'checkpoint', 'tool_call', 'skill', 'Belief', '__proto__', 'constructor'])
    refused(type, BELIEF, 'ERR_UNKNOWN_TYPE');
});

test('index-layer and reserved fields are never written', () => {
  const fields: ValueMap = {
    superseded_by: ADDRESS,
    system_valid_to: T,
    verification_status: 'verified',
    access_count: 1,
    last_accessed_at: T,
    contradicted: true,
  };
  for (const name of Object.keys(fields)) refused('belief', { ...BELIEF, [name]: fields[name] }, 'ERR_SCHEMA');
});

test('an unknown field may not have the name of a short key', () => {
  for (const name of ['s', 'ct', 'dur', 't', 'cnt', 'tn']) refused('belief', { ...BELIEF, [name]: 1 }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, related_to: [{ hash: ADDRESS, w: 1 }] }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, content_refs: [{ uri: 'u', modality: 'image', m: 'x' }] }, 'ERR_SCHEMA');
});

test('names that are equal in NFC are refused', () => {
  refused('belief', { ...BELIEF, 'e\u0301': 1, '\u00e9': 2 }, 'ERR_CORRUPT');
  refused('belief', { ...BELIEF, context: { 'e\u0301': 1, '\u00e9': 2 } }, 'ERR_CORRUPT');
  refused('belief', { ...BELIEF, provenance_chain: [{ 'e\u0301': 1, '\u00e9': 2 }] }, 'ERR_CORRUPT');
  refused('tool', { created_at: T, tool_phase: 'call', action_phase: 'call', tool_name: 't', input: 1 }, 'ERR_CORRUPT');
});

test('text without a canonical form is refused in any place', () => {
  for (const text of ['\ud800', 'a\udc00b', '\ufeffa'])
    for (const fields of [
      { subject: text },
      { x: [text] },
      { context: { [text]: 1 } },
      { [text]: 1 },
      { namespace: text },
    ])
      refused('belief', { ...BELIEF, ...fields }, 'ERR_CORRUPT');
});

test('a number that is not finite is refused in any place', () => {
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    for (const value of [bad, new Float(bad)])
      for (const fields of [
        { confidence: value },
        { x: value },
        { x: [{ y: value }] },
        { created_at: value },
        { category: value },
      ])
        refused('belief', { ...BELIEF, ...fields }, 'ERR_FLOAT_INVALID');
});

test('the position decides between integer and float, whatever the input was', () => {
  const plain = encodeGrain('belief', { ...BELIEF, confidence: 1, success_count: 3 }).address;
  assert.equal(encodeGrain('belief', { ...BELIEF, confidence: 1n, success_count: 3n }).address, plain);
  assert.equal(
    encodeGrain('belief', { ...BELIEF, confidence: new Float(1), success_count: new Float(3) }).address,
    plain,
  );
  refused('belief', { ...BELIEF, success_count: 1.5 }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, success_count: '1' }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, x: 2n ** 64n }, 'ERR_RANGE');
  refused('belief', { ...BELIEF, random_seed: -(2n ** 63n) - 1n }, 'ERR_RANGE');
  refused('belief', { ...BELIEF, valid_from: 2n ** 60n }, 'ERR_RANGE');
});

test('minus zero is written as zero and kept when it is read', () => {
  const zero = encodeGrain('belief', { ...BELIEF, confidence: 0, x: new Float(0) });
  const minus = encodeGrain('belief', { ...BELIEF, confidence: -0, x: new Float(-0) });
  assert.equal(minus.address, zero.address);
  const blob = Buffer.from(zero.blob);
  for (let at = blob.indexOf(0xcb, 9); at !== -1; at = blob.indexOf(0xcb, at + 9)) blob[at + 1] = 0x80;
  const { confidence, x } = decodeGrain(blob, { verifyReencode: true }).fields;
  assert.ok(Object.is(confidence, -0));
  assert.deepEqual(x, new Float(-0));
});

test('binary is allowed in one place only', () => {
  const bytes = Uint8Array.of(1, 2);
  refused('belief', { ...BELIEF, x: bytes }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, object: bytes }, 'ERR_SCHEMA');
  refused('belief', { ...BELIEF, trusted_timestamp: { tsp_response: 'text' } }, 'ERR_SCHEMA');
  const { blob } = encodeGrain('belief', { ...BELIEF, trusted_timestamp: { tsp_response: bytes } });
  assert.deepEqual(decodeGrain(blob).fields['trusted_timestamp'], { tsp_response: bytes });
});

test('addresses are checked on write: length first, then characters', () => {
  refused('belief', { ...BELIEF, derived_from: ['ab'] }, 'ERR_HASH_LENGTH');
  refused('belief', { ...BELIEF, derived_from: [`sha256:${ADDRESS}`] }, 'ERR_HASH_LENGTH');
  refused('belief', { ...BELIEF, derived_from: [ADDRESS.toUpperCase()] }, 'ERR_HASH_FORMAT');
  refused('belief', { ...BELIEF, related_to: [{ hash: 'g'.repeat(64) }] }, 'ERR_HASH_FORMAT');
  assert.ok(isAddress(ADDRESS));
  assert.throws(() => parseAddress('AB'), { code: 'ERR_HASH_LENGTH' });
  assert.throws(() => parseAddress('AB'.repeat(32)), { code: 'ERR_HASH_FORMAT' });
  const { blob, address } = encodeGrain('belief', BELIEF);
  assert.ok(sameAddress(address, addressOf(blob)));
  assert.equal(formatAddress(addressBytes(address)), address);
  assert.throws(() => verifyAddress(blob, parseAddress(ADDRESS)), { code: 'ERR_INTEGRITY' });
  assert.throws(() => decodeGrain(blob, { expectedAddress: ADDRESS }), { code: 'ERR_INTEGRITY' });
  assert.throws(() => decodeGrain(blob, { expectedAddress: 'x' }), { code: 'ERR_HASH_LENGTH' });
});

test('a writer refuses an empty object, and a timed policy without its fields', () => {
  refused('belief', { ...BELIEF, object: '' }, 'ERR_EMPTY');
  const { blob } = encodeGrain('belief', { ...BELIEF, object: 'x' });
  const at = blob.indexOf(Buffer.from('a16fa178', 'hex'));
  const emptied = Buffer.concat([blob.subarray(0, at + 2), Buffer.of(0xa0), blob.subarray(at + 4)]);
  assert.equal(decodeGrain(emptied, { verifyReencode: true }).fields['object'], '', 'a reader accepts it');
  refused('belief', { ...BELIEF, invalidation_policy: { mode: 'timed', locked_until: 1 } }, 'ERR_SCHEMA');
});

test('a graph has existing ends, unique names and bounded cycles', () => {
  const graph = (edges: [string, string, number?][], rest: ValueMap = {}): ValueMap => ({
    created_at: T,
    nodes: ['a', 'b', 'c'],
    edges: edges.map(([src, dst, max]) => ({ src, dst, ...(max !== undefined && { max_cycles: max }) })),
    ...rest,
  });
  assert.equal(
    encodeGrain(
      'workflow',
      graph([
        ['a', 'b'],
        ['b', 'c'],
        ['a', 'c'],
      ]),
    ).warnings.length,
    0,
  );
  assert.ok(
    encodeGrain(
      'workflow',
      graph([
        ['a', 'b'],
        ['b', 'a', 3],
      ]),
    ),
  );
  assert.ok(
    encodeGrain(
      'workflow',
      graph(
        [
          ['a', 'b'],
          ['b', 'a'],
        ],
        { retries: { a: 2 } },
      ),
    ),
  );
  refused(
    'workflow',
    graph([
      ['a', 'b'],
      ['b', 'a'],
    ]),
    'ERR_SCHEMA',
  );
  refused(
    'workflow',
    graph(
      [
        ['a', 'b', 1],
        ['b', 'a'],
      ],
      { retries: { b: 2 } },
    ),
    'ERR_SCHEMA',
  );
  refused('workflow', graph([['c', 'c']]), 'ERR_SCHEMA');
  refused('workflow', graph([['a', 'd']]), 'ERR_SCHEMA');
  refused('workflow', graph([['d', 'a']]), 'ERR_SCHEMA');
  refused('workflow', graph([], { nodes: ['a', 'a'] }), 'ERR_SCHEMA');
  refused('workflow', graph([], { nodes: ['\u00e9', 'e\u0301'] }), 'ERR_SCHEMA');
  refused('workflow', graph([], { retries: { d: 1 } }), 'ERR_SCHEMA');
  refused('workflow', graph([], { bindings: { d: ADDRESS } }), 'ERR_SCHEMA');
  refused('workflow', { created_at: T, steps: ['a'], trigger: 't', retries: { a: 1 } }, 'ERR_SCHEMA');
});

test('each action phase requires and forbids its own fields', () => {
  const call = { created_at: T, action_phase: 'call', tool_name: 't', input: {} };
  const complete = { created_at: T, tool_name: 't', input: {}, content: '', is_error: false };
  assert.deepEqual(encodeGrain('action', call).warnings, []);
  assert.deepEqual(encodeGrain('action', complete).warnings, []);
  for (const name of ['content', 'is_error', 'stdout', 'stderr', 'exit_code', 'duration_ms'])
    refused(
      'action',
      { ...call, [name]: name === 'is_error' ? false : name.endsWith('s') || name.includes('code') ? 1 : 'x' },
      'ERR_SCHEMA',
    );
  for (const name of ['tool_name', 'input', 'content', 'is_error'])
    refused('action', { ...complete, [name]: null }, 'ERR_SCHEMA');
  refused('action', { ...complete, tool_name: '' }, 'ERR_EMPTY');
  refused('action', { ...call, action_phase: 'dream' }, 'ERR_RANGE');
  warned('action', { ...call, derived_from: [ADDRESS] }, 'derived_from');
  warned('action', { ...complete, parent_task_id: 'nightly' }, 'parent_task_id');
  warned('tool', { ...complete, strict: true }, 'strict');
});

test('advice of the format causes a warning', () => {
  const observation = { created_at: T, observer_id: 'o', observer_type: 'llm' };
  warned('observation', observation, 'observer_model');
  warned('observation', { ...observation, observer_type: 'human', observer_model: 'm' }, 'human');
  warned('observation', { ...observation, observer_model: 'm', observation_mode: 'reflective' }, 'observation_scope');
  warned('observation', { ...observation, observation_mode: 'batch' }, 'observation_mode');
  warned('belief', { ...BELIEF, related_to: [{ hash: ADDRESS, relation_type: 'cousin' }] }, 'relation_type');
  warned('belief', { ...BELIEF, invalidation_policy: { mode: 'whim' } }, 'mode');
  warned('belief', { ...BELIEF, relation: 'mg:dreams' }, 'mg:');
  warned('belief', { ...BELIEF, source_type: 'axiomatic' }, 'established');
  warned('belief', { ...BELIEF, embedding_text: 'x'.repeat(8193) }, 'embedding_text');
  const quiet = { hash: ADDRESS, relation_type: 'related' };
  assert.deepEqual(
    encodeGrain('belief', { ...BELIEF, related_to: [quiet, { ...quiet, relation_type: 'mg:step_action:n' }] }).warnings,
    [],
  );
});

test('size is limited before and after encoding', () => {
  const empty = encodeGrain('reasoning', { created_at: T, conclusion: 'x'.repeat(65536) }).blob.length - 65536;
  const most = 1_048_576 - empty;
  const largest = encodeGrain('reasoning', { created_at: T, conclusion: 'x'.repeat(most) });
  assert.equal(largest.blob.length, 1_048_576);
  assert.equal(decodeGrain(largest.blob, { verifyReencode: true }).fields['conclusion'], 'x'.repeat(most));
  refused('reasoning', { created_at: T, conclusion: 'x'.repeat(most + 1) }, 'ERR_TOO_LARGE');
  refused('reasoning', { created_at: T, conclusion: '\u20ac'.repeat(most / 2) }, 'ERR_TOO_LARGE');
  refused('reasoning', { created_at: T, conclusion: 'x'.repeat(50_000_000) }, 'ERR_TOO_LARGE');
  refused('reasoning', { created_at: T, premises: new Array(2_000_000).fill('') }, 'ERR_TOO_LARGE');
  refused(
    'reasoning',
    { created_at: T, trusted_timestamp: { tsp_response: new Uint8Array(2_000_000) } },
    'ERR_TOO_LARGE',
  );
  const raised = encodeGrain(
    'reasoning',
    { created_at: T, conclusion: 'x'.repeat(most + 1) },
    { blobBytesMax: 2_000_000 },
  );
  assert.throws(() => decodeGrain(raised.blob), { code: 'ERR_TOO_LARGE' });
  assert.ok(decodeGrain(raised.blob, { blobBytesMax: 2_000_000 }));
  refused('reasoning', { created_at: T, conclusion: `a${'\u0301'.repeat(600)}` }, 'ERR_TOO_LARGE');
  assert.ok(encodeGrain('reasoning', { created_at: T, conclusion: `a${'\u0301'.repeat(500)}` }));
});

test('nesting is limited, cycles included', () => {
  let deep: Value = 1;
  for (let i = 0; i < 32; i++) deep = [deep];
  refused('reasoning', { created_at: T, x: deep }, 'ERR_CORRUPT');
  const circle: ValueMap = {};
  circle['again'] = circle;
  refused('reasoning', { created_at: T, x: circle }, 'ERR_CORRUPT');
});

test('profiles limit size, depth and fields', () => {
  const small = { profile: 'lightweight' } as const;
  const { blob } = encodeGrain('belief', { ...BELIEF, namespace: 'n' }, small);
  assert.ok(decodeGrain(blob, small));
  assert.throws(() => encodeGrain('belief', { ...BELIEF, user_id: 'u' }, small), { code: 'ERR_SCHEMA' });
  assert.throws(() => encodeGrain('belief', { ...BELIEF, object: 'o'.repeat(500) }, small), { code: 'ERR_TOO_LARGE' });
  const rich = encodeGrain('belief', { ...BELIEF, user_id: 'u' }).blob;
  assert.throws(() => decodeGrain(rich, small), { code: 'ERR_SCHEMA' });
  const large = encodeGrain('belief', { ...BELIEF, object: 'o'.repeat(40_000) }).blob;
  assert.throws(() => decodeGrain(large, { profile: 'standard' }), { code: 'ERR_TOO_LARGE' });
  let deep: Value = 1;
  for (let i = 0; i < 16; i++) deep = [deep];
  assert.throws(() => encodeGrain('belief', { ...BELIEF, x: deep }, { profile: 'standard' }), { code: 'ERR_CORRUPT' });
});

test('the flag of another engine is accepted only on request', () => {
  const { blob } = encodeGrain('belief', BELIEF);
  blob[1]! |= 0x20;
  assert.throws(() => decodeGrain(blob), { code: 'ERR_CORRUPT' });
  const grain = decodeGrain(blob, { engineFlags: true, verifyReencode: true });
  assert.equal(grain.header.flags, 0x20);
});

test('types without a table decode to opaque maps', () => {
  const blob = Buffer.concat([Buffer.from('0100f0000000000000', 'hex'), Buffer.from('82a17301a174a3617070', 'hex')]);
  const grain = decodeAny(blob);
  assert.equal(grain.type, undefined);
  assert.deepEqual([grain.typeString, grain.fields], ['app', { s: 1 }]);
  assert.throws(() => decodeGrain(blob), { code: 'ERR_UNKNOWN_TYPE' });
  assert.throws(() => openGrain(blob), { code: 'ERR_UNKNOWN_TYPE' });
});

test('an alias and the name of its phase are kept', () => {
  const tool = { created_at: T, tool_phase: 'call', tool_name: 't', input: 'text' };
  const encoded = encodeGrain('tool', tool);
  const grain = decodeGrain(encoded.blob, { verifyReencode: true });
  assert.deepEqual([grain.type, grain.typeString, grain.fields], ['action', 'tool', tool]);
  const { tool_phase: phase, ...rest } = tool;
  assert.equal(encodeGrain('tool', { ...rest, action_phase: phase }).address, encoded.address);
  assert.notEqual(encodeGrain('action', { ...rest, action_phase: phase }).address, encoded.address);
});

test('identity is the statement without its time', () => {
  const id = (type: string, fields: ValueMap, options = {}): string | undefined => {
    const bytes = identityBytes(encodeGrain(type, fields, options).blob);
    return bytes && Buffer.from(bytes).toString('hex');
  };
  const belief = id('belief', BELIEF);
  assert.equal(id('belief', { ...BELIEF, created_at: 5 }), belief);
  assert.equal(id('fact', { ...BELIEF, created_at: T + 1 }), belief, 'the alias gives the same identity');
  assert.equal(id('belief', BELIEF, { sensitivity: 1, signed: true }), belief);
  for (const change of [{ object: 'p' }, { confidence: 0.6 }, { namespace: 'n' }, { user_id: 'u' }, { ca_: T }])
    assert.notEqual(id('belief', { ...BELIEF, ...change }), belief);
  const event = { content: 'a2 ca \u00a2ca', created_at: T + 1, cat: undefined, context: { ca: 1, t: 'x' } };
  assert.equal(id('event', { ...event, created_at: T + 999 }), id('event', event), 'times within one second are equal');
  assert.notEqual(id('event', { ...event, created_at: T + 1000 }), id('event', event));
  assert.notEqual(id('event', { ...event, context: { ca: 2, t: 'x' } }), id('event', event));
  const action = { created_at: T, tool_name: 't', input: {}, content: 1, is_error: false };
  assert.equal(id('action', action), undefined);
  assert.equal(id('action', { ...action, context: { tcid: 1 } }), undefined);
  assert.equal(
    id('action', { ...action, tool_call_id: 'c', created_at: 1 }),
    id('action', { ...action, tool_call_id: 'c' }),
  );
  assert.notEqual(id('action', { ...action, tool_call_id: 'c' }), id('action', { ...action, tool_call_id: 'd' }));
});

test('codec errors become service errors by their origin', () => {
  const codes = (code: ConstructorParameters<typeof GrainError>[0]): string[] => {
    const error = new GrainError(code);
    return [toEngineError(error, 'api').code, toEngineError(error, 'import').code];
  };
  assert.deepEqual(codes('ERR_SCHEMA'), ['VAL-E003', 'FMT-E001']);
  assert.deepEqual(codes('ERR_RANGE'), ['VAL-E001', 'FMT-E001']);
  assert.deepEqual(codes('ERR_UNKNOWN_TYPE'), ['MEM-E005', 'FMT-E001']);
  assert.deepEqual(codes('ERR_INTEGRITY'), ['FMT-E003', 'FMT-E003']);
  assert.deepEqual(codes('ERR_INVALIDATION_DENIED'), ['POL-E004', 'POL-E004']);
  assert.deepEqual(codes('ERR_TOO_LARGE'), ['LIM-E003', 'FMT-E001']);
});

const text = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .filter((s) => s.isWellFormed() && !s.normalize('NFC').startsWith('\ufeff'));
const scalar: fc.Arbitrary<Value> = fc.oneof(
  text,
  fc.boolean(),
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => new Float(value)),
);
const free = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(fc.oneof(tie('value'), fc.constant(null)), { maxLength: 20 }),
    fc.array(fc.tuple(text, tie('value')), { maxLength: 20 }).map(mapOf),
  ),
})).value;

function mapOf(entries: readonly (readonly [string, Value])[]): ValueMap {
  const map: ValueMap = {};
  for (const [key, value] of entries) setOwn(map, key.normalize('NFC'), value);
  return map;
}

test('encoded grains decode, and encode to the same bytes', () => {
  const fields = fc.record(
    {
      created_at: fc.integer({ min: 0, max: 4294967295999 }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      namespace: text,
      structural_tags: fc.array(text, { maxLength: 5 }),
      context: fc.array(fc.tuple(text, free), { maxLength: 20 }).map(mapOf),
      random_seed: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
      note_of_ours: free,
      __proto__: free,
      another_note: free,
    },
    { requiredKeys: ['created_at'] },
  );
  fc.assert(
    fc.property(fields, fc.constantFrom(0, 1, 2, 3), (given, sensitivity) => {
      const encoded = encodeGrain('reasoning', given as ValueMap, { sensitivity });
      const grain = decodeGrain(encoded.blob, { verifyReencode: true, expectedAddress: encoded.address });
      const again = encodeGrain(grain.typeString, grain.fields, { sensitivity });
      assert.equal(again.address, encoded.address);
      assert.deepEqual(openGrain(encoded.blob), grain);
    }),
    { numRuns: runs(200) },
  );
});

test('a changed blob is refused with a code or is another canonical blob', () => {
  const base = encodeGrain('belief', {
    ...BELIEF,
    namespace: 'caf\u00e9',
    context: { a: [1, 2.5, null, { b: -70000 }], '\u{1f600}': 'x' },
    related_to: [{ hash: ADDRESS, relation_type: 'similar', weight: 1 }],
    structural_tags: ['reg:x'],
    created_at: T,
  }).blob;
  const random = mulberry(3);
  let refusals = 0;
  for (let round = 0; round < 8_000; round++) {
    let blob: Buffer = Buffer.from(base);
    for (let i = 0; i <= round % 4; i++) blob[Math.floor(random() * blob.length)] = Math.floor(random() * 256);
    if (round % 5 === 0) blob = blob.subarray(0, Math.floor(random() * blob.length));
    try {
      const grain = decodeAny(blob);
      if (grain.type !== undefined) decodeGrain(blob, { verifyReencode: true, expectedAddress: addressOf(blob) });
    } catch (error) {
      assert.ok(error instanceof GrainError, String(error));
      refusals++;
    }
    // Stored bytes changed by the disk: any result except bytes from outside the blob.
    try {
      openGrain(blob);
      identityBytes(blob);
    } catch (error) {
      assert.ok(error instanceof GrainError, String(error));
    }
  }
  assert.ok(refusals > 4_000);
});
