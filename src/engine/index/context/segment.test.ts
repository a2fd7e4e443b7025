import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { FacetChunk } from '../facet/segment.ts';
import { HeapBudget } from '../heap-budget.ts';
import { DROPPED } from '../parts/merge-input.ts';
import { finish } from '../testing/shard.ts';
import { MemoryChunk } from '../text/memory-chunk.ts';
import { ContextChunk, encodeContext, mergeContext } from './segment.ts';
import { ROLES, speakerOf, type Turn, turnCode, withSpeaker } from './turn.ts';

const turns = fc.option(
  fc.record({
    asks: fc.boolean(),
    holdsTime: fc.boolean(),
    speaksOfSelf: fc.boolean(),
    role: fc.constantFrom(...Object.values(ROLES)),
    speaker: fc.option(fc.string({ maxLength: 12 }), { nil: undefined }),
  }),
  { nil: undefined },
);
type MaybeTurn = Turn | undefined;

function chunkOf(docs: readonly MaybeTurn[]): MemoryChunk {
  const speakers = [...new Set(docs.flatMap((turn) => turn?.speaker ?? []))];
  const codes = Uint32Array.from(docs, (turn) =>
    turn === undefined ? 0 : turnCode(turn, turn.speaker === undefined ? 0 : speakers.indexOf(turn.speaker) + 1),
  );
  const chunk = new MemoryChunk();
  finish(encodeContext({ codes, speakers }, docs.length, chunk));
  return chunk;
}

function read(chunk: MemoryChunk, docCount: number): (readonly [number, string | undefined])[] {
  const cache = new HeapBudget(1_000_000).scope();
  const facets = new FacetChunk(chunk, docCount, () => new Uint8Array(16), cache);
  const createdAtMs = (): Float64Array => new Float64Array(docCount);
  const parts = { source: chunk, docCount, facets, createdAtMs, cache };
  const reader = new ContextChunk(parts);
  finish(reader.verify());
  const context = reader.get();
  return Array.from({ length: docCount }, (_, doc) => {
    const code = context?.codes[doc] ?? 0;
    return [withSpeaker(code, 0), speakerOf(code) === 0 ? undefined : context?.speaker(speakerOf(code))];
  });
}

const expected = (docs: readonly MaybeTurn[]) =>
  docs.map((turn) => [turn === undefined ? 0 : turnCode(turn, 0), turn?.speaker]);

test('contexts read back as they were written', () => {
  fc.assert(
    fc.property(fc.array(turns, { maxLength: 40 }), (docs) => {
      assert.deepEqual(read(chunkOf(docs), docs.length), expected(docs));
    }),
    { numRuns: runs(200) },
  );
});

test('a merge keeps the context of the remaining docs, and no other speaker', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.tuple(turns, fc.boolean()), { maxLength: 20 }), { maxLength: 4 }), (inputs) => {
      let next = 0;
      const merged = new MemoryChunk();
      finish(
        mergeContext(
          inputs.map((docs) => ({
            source: chunkOf(docs.map(([turn]) => turn)),
            docCount: docs.length,
            docMap: Int32Array.from(docs, ([, kept]) => (kept ? next++ : DROPPED)),
          })),
          merged,
        ),
      );
      const kept = inputs.flatMap((docs) => docs.flatMap(([turn, isKept]) => (isKept ? [turn] : [])));
      assert.deepEqual(read(merged, kept.length), expected(kept));
      const text = Buffer.from(merged.section('context').bytes(0, merged.section('context').length)).toString();
      for (const [turn] of inputs.flat())
        if (
          turn?.speaker !== undefined &&
          turn.speaker.length > 6 &&
          !kept.some((one) => one?.speaker === turn.speaker)
        )
          assert.ok(!text.includes(turn.speaker), 'a dropped speaker is not in the merged section');
    }),
    { numRuns: runs(200) },
  );
});

test('an event takes one byte, one of a few speakers two, a run of other grains two in total', () => {
  const bare: Turn = { asks: true, holdsTime: true, speaksOfSelf: true, role: ROLES.other, speaker: undefined };
  const bytes = (docs: readonly MaybeTurn[]): number => chunkOf(docs).section('context').length;
  const some = new Array<MaybeTurn>(1_000).fill(bare);
  // The trailer takes a few bytes more.
  assert.ok(bytes(some) <= 1_000 + 8, `${bytes(some)}`);
  assert.ok(bytes(some.map((turn, i) => ({ ...turn!, speaker: `s${i % 9}` }))) <= 2_000 + 9 * 3 + 8);
  assert.ok(bytes([bare, ...new Array<MaybeTurn>(1_000).fill(undefined)]) <= 12);
  assert.equal(bytes(new Array<MaybeTurn>(1_000).fill(undefined)), 0);
});
