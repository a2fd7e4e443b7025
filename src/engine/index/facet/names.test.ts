import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FACETS } from '../parts/part.ts';
import { MemoryChunk } from '../text/memory-chunk.ts';
import type { NameSection } from './layout.ts';
import { NamesCursor, NamesWriter } from './names.ts';
import { FacetNames } from './writer.ts';

const anyName = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constant('長い名前 '.repeat(50)),
);

/** Writes names by facet id. */
function write(section: NameSection, facets: ReadonlyMap<number, readonly string[]>): MemoryChunk {
  const chunk = new MemoryChunk();
  const writer = new NamesWriter(chunk, section);
  for (const [id, names] of facets) for (const name of names) writer.add(id, Buffer.from(name));
  writer.end();
  return chunk;
}

function read(cursor: NamesCursor, count: number): string[] {
  return Array.from({ length: count }, () => Buffer.from(cursor.next()).toString());
}

const sentences = (count: number): string[] =>
  Array.from(
    { length: count },
    (_, i) => `the harbour of town ${i} was rebuilt after the ${i % 7} storms of that year`,
  );

test('names are kept as their UTF-8, whatever their lengths', () => {
  fc.assert(
    fc.property(fc.array(anyName), (texts) => {
      const names = new FacetNames(texts.length);
      for (const text of texts) names.add(text);
      for (const [i, text] of texts.entries()) assert.deepEqual(Buffer.from(names.at(i)), Buffer.from(text));
    }),
  );
});

test('names of each facet are read back in order, from the front and from the position of its first frame', () => {
  const many = fc.array(anyName, { maxLength: 60 });
  const section = fc.constantFrom<NameSection>('facetNames', 'tripleNames');
  fc.assert(
    fc.property(section, many, many, fc.nat(3_000), (name, subjects, relations, count) => {
      const wanted = (texts: readonly string[]): string[] => texts.map((text) => Buffer.from(text).toString());
      const objects = sentences(count);
      const facets = [subjects, relations, objects];
      const chunk = write(
        name,
        new Map([
          [FACETS.subject, subjects],
          [FACETS.relation, relations],
          [FACETS.object, objects],
        ]),
      );
      const through = new NamesCursor(chunk, name);
      for (const texts of facets) assert.deepEqual(read(through, texts.length), wanted(texts));
      const skipping = new NamesCursor(chunk, name);
      skipping.skip(subjects.length);
      skipping.skip(relations.length);
      assert.deepEqual(read(new NamesCursor(chunk, name, skipping.position), count), objects);
    }),
    { numRuns: 30 },
  );
});

test('names of triples take less than half of their bytes, and names that do not compress no more than them', () => {
  const texts = sentences(5_000);
  const bytes = texts.join('').length;
  assert.ok(write('tripleNames', new Map([[FACETS.object, texts]])).byteLength < bytes / 2);
  assert.ok(write('facetNames', new Map([[FACETS.session, texts]])).byteLength > bytes);
  const random = Array.from({ length: 300 }, (_, i) => Buffer.alloc(100, i).map((_, at) => (at * i * 7919) % 251));
  const chunk = new MemoryChunk();
  const writer = new NamesWriter(chunk, 'tripleNames');
  for (const name of random) writer.add(FACETS.object, name);
  writer.end();
  assert.ok(chunk.byteLength <= 300 * 101 + 20);
});

test('a name longer than a frame is read back', () => {
  const long = sentences(5_000).join(' ');
  const chunk = write('tripleNames', new Map([[FACETS.object, ['a', long, 'b']]]));
  assert.deepEqual(read(new NamesCursor(chunk, 'tripleNames'), 3), ['a', long, 'b']);
});

test('a frame that does not decompress, or to another length, is a corrupt block', () => {
  const chunk = write('tripleNames', new Map([[FACETS.object, sentences(1_000)]]));
  const section = chunk.section('tripleNames');
  const whole = section.bytes(0, section.length);
  for (const at of [1, 2, 8, 12]) {
    const damaged = new MemoryChunk();
    const bytes = Uint8Array.from(whole);
    bytes[at]! ^= 1;
    damaged.section('tripleNames').write(bytes);
    assert.throws(() => read(new NamesCursor(damaged, 'tripleNames'), 1_000), { name: 'CorruptBlock' }, `byte ${at}`);
  }
});
