// Requests to add grains, plain and other ones, some of them faulty.
import fc from 'fast-check';
import { AddOptions } from '../../gen/memory/v1/memory.ts';

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  return Buffer.from([...bytes, left]);
}

export function member(tag: number, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([varint(tag), varint(bytes.length), bytes]);
}

export const itemOf = (type: string, text: string): Buffer => Buffer.concat([member(0x0a, type), member(0x12, text)]);

export const belief = { subject: 'Ada', relation: 'likes', object: 'tea' };
const texts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom<object>(belief, { ...belief, confidence: 0.5, tags: ['a'] }, { ...belief, object: 'thé 茶' })
      .map((one) => JSON.stringify(one)),
  },
  { weight: 2, arbitrary: fc.constant('{"content":"hello","role":"user"}') },
  fc.constantFrom(
    '',
    '{}',
    '[]',
    'null',
    '{',
    '{"subject":"Ada","subjekt":1}',
    '{"userid":"x"}',
    '{"object":"caf\u00e9"}',
    '{"content":"cafe\u0301"}',
  ),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
);
const types = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('belief', 'event') },
  fc.constantFrom('', 'fact', 'goal', 'Belief', 'belie', 'beliefs', '\u00e9'),
);
const options = fc
  .record({ sync: fc.boolean(), autoRelate: fc.boolean() })
  .map((one) => member(0x1a, Buffer.from(AddOptions.encode(AddOptions.fromPartial(one)).finish())));
export const odd = fc.oneof(
  options,
  fc.constantFrom(member(0x0a, 'event'), member(0x12, '{}'), member(0x22, 'x'), Buffer.of(0x20, 0x01), Buffer.of(0x0a)),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
);
export const items = fc
  .tuple(types, texts, fc.nat(9), odd, fc.boolean())
  .map(([type, text, isOdd, more, isTurned]) =>
    Buffer.concat([
      ...(isTurned ? [member(0x12, text), member(0x0a, type)] : [member(0x0a, type), member(0x12, text)]),
      ...(isOdd === 0 ? [more] : []),
    ]),
  );

export const white = fc.constantFrom('', '', '', ' ', '\n\t');
const typed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(['belief', JSON.stringify(belief)] as const, ['event', '{"content":"hi"}'] as const),
  },
  { weight: 2, arbitrary: fc.tuple(types, texts) },
);
export const elements = fc.tuple(typed, fc.nat(3), fc.nat(40), white).map(([[type, text], order, isOdd, blank]) => {
  const pair = [`"grain_type":${blank}${JSON.stringify(type)}`, `"fields"${blank}:${text === '' ? 'null' : text}`];
  const more = isOdd === 0 ? ['"subject":"outside"'] : isOdd === 1 ? ['"grain_type":"event"'] : [];
  return `{${(order === 0 ? pair.reverse() : pair).concat(more).join(`${blank},`)}${blank}}`;
});
