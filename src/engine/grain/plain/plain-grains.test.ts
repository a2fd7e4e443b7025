// The one pass and the general path give the same grains, and the one pass refuses nothing that the general path takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError } from '../../base/errors.ts';
import { NAMESPACE_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, USER_ID_CHARS_MAX } from '../../base/limits.ts';
import { fromApi } from '../api/input.ts';
import { parseJson } from '../api/json.ts';
import type { JsonObject } from '../api/json-value.ts';
import { encodeGrain } from '../codec/blob.ts';
import { PlainGrains } from './plain-grains.ts';
import { NUMBER_COLUMNS, PLAIN_TYPES, type PlainType, TEXT_COLUMNS } from './scan.ts';

const NOW_MS = 1_764_000_000_123;

/** The general path's grain, or its refusal. */
function general(type: PlainType, text: string): { fields: object; blob: Buffer; warnings: string[] } | EngineError {
  try {
    const { fields, warnings } = fromApi(type, parseJson(text) as JsonObject, { nowMs: NOW_MS });
    const { blob, warnings: more } = encodeGrain(type, fields);
    return { fields, blob, warnings: [...warnings, ...more] };
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

/** Compares both paths. Returns false where the one pass left the grain to the general path. */
function compare(type: PlainType, text: string, before = '', after = ''): boolean {
  const bytes = Buffer.from(before + text + after);
  const from = Buffer.byteLength(before);
  const grains = new PlainGrains(bytes, 1);
  const members = grains.add(type, from, from + Buffer.byteLength(text));
  if (members < 0) {
    assert.equal(grains.count, 0);
    return false;
  }
  assert.deepEqual(grains.fieldsAt(0), parseJson(text));
  const grain = grains.grainAt(0, NOW_MS);
  const expected = general(type, text);
  if (grain === undefined) {
    assert.ok(expected instanceof EngineError, `left to the general path, which takes it: ${text}`);
    return false;
  }
  assert.ok(!(expected instanceof EngineError), `refused by the general path: ${text}: ${expected}`);
  assert.equal(grain.type, type);
  assert.deepEqual(grain.fields, expected.fields, text);
  assert.equal(grain.blob.toString('hex'), expected.blob.toString('hex'), text);
  assert.deepEqual(expected.warnings, [], text);
  let count = 0;
  for (const value of Object.values(parseJson(text) as object)) count += 1 + (Array.isArray(value) ? value.length : 0);
  assert.equal(members, count, text);
  return true;
}

const type = fc.constantFrom(...PLAIN_TYPES);
const plainText = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(..."abc XYZ019-_:.,'[]{}/\u007f~"), minLength: 1, maxLength: 300 }),
    fc.string({
      unit: fc.constantFrom(...'aé\u00a0ßЯжαω漢字かカ한가ᄀ“😀❤️שמ\u200d\ufffd\u2028'),
      minLength: 1,
      maxLength: 90,
    }),
  )
  .map((text) => JSON.stringify(text));
const oddText = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      '',
      'mg:knows',
      'mg:',
      'mg',
      'é',
      'e\u0301',
      '한\u11a8',
      '가\u1161',
      'か\u3099',
      '\u212b',
      '\u0387',
      'हिन्दी',
      'ภาษาไทย',
      '\ufeffa',
      'a\ufeff',
      '\u0085',
      '\u3000',
      '👩‍👩‍👧',
      '𝒜',
      '\u{1d15e}',
      '\ud800',
      '\0',
      '\\',
      '"',
      '\n',
      '\u2028',
      'phi:x',
      'a'.repeat(20_000),
    ),
  )
  .map((text) => JSON.stringify(text));
const number = fc.oneof(
  { weight: 3, arbitrary: fc.nat(1_000).map((one) => String(one / 1_000)) },
  fc.constantFrom('0', '1', '0.5', '1.0', '0.999999999999999', '0.1234567890123456', '0.30000000000000004', '5'),
  fc.constantFrom(
    '-0',
    '-0.5',
    '1e0',
    '1E-3',
    '01',
    '.5',
    '1.',
    '1764000000',
    '1764000300',
    '1764000301',
    '4294967296',
  ),
  fc.double({ min: 0, max: 1, noNaN: true }).map(String),
  fc.nat(4_294_967_295).map(String),
  fc.constantFrom('12345678901234567890', '999999999999999', '1000000000000000', 'NaN', '+1', '0x1', '1_0'),
);
const tags = fc.oneof(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: plainText }, oddText), { maxLength: 5 })
    .map((list) => `[${list.join(',')}]`),
  fc.constantFrom(
    '["phi:health"]',
    '["pii:name","reg:x"]',
    '[ "a" , "b" ]',
    '["a",]',
    '["a"',
    '[["a"]]',
    `["${'t'.repeat(TAG_CHARS_MAX)}"]`,
    `["${'t'.repeat(TAG_CHARS_MAX + 1)}"]`,
    JSON.stringify(new Array(TAGS_MAX).fill('t')),
    JSON.stringify(new Array(TAGS_MAX + 1).fill('t')),
  ),
);
const odd = fc.oneof(oddText, number, tags, fc.constantFrom('null', 'true', '{}', '[]', '{"a":1}', '', 'x', '"'));

const name = fc.constantFrom<string>(...TEXT_COLUMNS, ...NUMBER_COLUMNS, 'tags');
const member = name.chain((key) => {
  const usual = TEXT_COLUMNS.some((one) => one === key) ? plainText : key === 'tags' ? tags : number;
  return fc.tuple(fc.constant(JSON.stringify(key)), fc.oneof({ weight: 20, arbitrary: usual }, odd));
});
const other = fc.tuple(
  fc.constantFrom(
    '"other"',
    '"Subject"',
    '"subj\\u0065ct"',
    '"__proto__"',
    '""',
    '"s"',
    '"structural_tags"',
    '"type"',
    '"time"',
    'x',
  ),
  odd,
);

/** Members that a grain of each type needs, so that most grains are complete. */
const needed = fc.tuple(plainText, plainText, plainText, plainText);
const blank = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('', ' ', '\n\t', '\r') },
  fc.constantFrom('\v', '\u00a0', ','),
);

/** JSON texts of objects, most of them with known members only. Some have a member twice, and some are no JSON. */
const objects = fc
  .tuple(
    type,
    needed,
    fc.uniqueArray(member, { selector: ([key]) => key, maxLength: 6 }),
    fc.array(fc.oneof({ weight: 2, arbitrary: other }, member), { maxLength: 1 }),
    fc.array(blank, { minLength: 4, maxLength: 4 }),
    fc.nat(4).map((one) => one === 0),
  )
  .map(([of, [subject, relation, object, content], some, others, [a, b, c, d], withOthers]) => {
    const own: [string, string][] =
      of === 'belief'
        ? [
            ['"subject"', subject],
            ['"relation"', relation],
            ['"object"', object],
          ]
        : [['"content"', content]];
    const foreign = of === 'belief' ? ['"content"', '"role"'] : ['"subject"', '"relation"', '"object"'];
    const first = own.map(([key]) => key);
    const kept = some.filter(([key]) => withOthers || !(foreign.includes(key) || first.includes(key)));
    const members = [...own, ...kept, ...(withOthers ? others : [])];
    return { of, text: `${a}{${members.map(([key, value]) => `${b}${key}${c}:${value}${d}`).join(',')}}${a}` };
  });

test('a plain grain has the fields and the bytes of the general path, and no warnings', () => {
  let plain = 0;
  let left = 0;
  fc.assert(
    fc.property(objects, ({ of, text }) => {
      if (compare(of, text, '\u0012\u007f', ',')) plain += 1;
      else left += 1;
    }),
    { numRuns: 4_000 },
  );
  assert.ok(plain > 500 && left > 500, `${plain} plain, ${left} others`);
});

test('texts that are cut off or broken are left to the general path', () => {
  const whole = '{"subject":"Ada","relation":"likes","object":"tea","confidence":0.5,"tags":["a","b"],"user_id":"u"}';
  assert.ok(compare('belief', whole));
  for (let end = 0; end < whole.length; end++)
    assert.ok(!compare('belief', whole.slice(0, end), '', whole.slice(end)), `${end}`);
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
      const bytes = Buffer.from(whole);
      bytes[at] = byte;
      compare('belief', bytes.toString());
    }),
    { numRuns: 2_000 },
  );
});

test('the bounds of texts and times are those of the general path', () => {
  const belief = (more: string): string => `{"subject":"a","relation":"b","object":"c",${more}}`;
  const cases: [more: string, plain: boolean][] = [
    [`"user_id":"${'u'.repeat(USER_ID_CHARS_MAX)}"`, true],
    [`"user_id":"${'u'.repeat(USER_ID_CHARS_MAX + 1)}"`, false],
    [`"namespace":"${'n'.repeat(NAMESPACE_CHARS_MAX)}"`, true],
    [`"namespace":"${'n'.repeat(NAMESPACE_CHARS_MAX + 1)}"`, false],
    ['"created_at":1764000300', true],
    ['"created_at":1764000301', false],
    ['"created_at":0', true],
    ['"created_at":255', true],
    ['"confidence":1', true],
    ['"confidence":1.0000001', false],
    ['"importance":0.25', true],
    ['"session_id":"s","tags":["legal:x"]', true],
    ['"subject":"twice"', false],
    ['"user_id":""', false],
  ];
  for (const [more, plain] of cases) assert.equal(compare('belief', belief(more)), plain, more);
  const about = (relation: string): string => `{"subject":"a","relation":"${relation}","object":"c"}`;
  // The format lists the relations with this prefix, and others get a warning.
  assert.ok(
    !compare('belief', about('mg:nothing')) && compare('belief', about('mg')) && compare('belief', about('MG:x')),
  );
  assert.ok(compare('event', '{"content":"hello","role":"user","session_id":"s","created_at":1700000000}'));
  assert.ok(!compare('event', '{"role":"user"}'));
});

test('numbers of many digits are the nearest doubles', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 14, maxLength: 18 });
  fc.assert(
    fc.property(digits, (fraction) => {
      compare('belief', `{"subject":"a","relation":"b","object":"c","confidence":0.${fraction}}`);
    }),
    { numRuns: 2_000 },
  );
});

test('short texts that share a slot do not share a string', () => {
  const texts = Array.from({ length: 5_000 }, (_, i) => `name-${i}`);
  const json = texts.map((text) => `{"content":"${text}","user_id":"${text}"}`);
  const bytes = Buffer.from(json.join(''));
  const grains = new PlainGrains(bytes, texts.length);
  let at = 0;
  for (const text of json) {
    assert.equal(grains.add('event', at, at + text.length), 2);
    at += text.length;
  }
  for (const [i, text] of texts.entries()) assert.equal(grains.grainAt(i, NOW_MS)?.fields['user_id'], text);
});
