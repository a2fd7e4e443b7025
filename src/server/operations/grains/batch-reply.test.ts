import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BatchAddResponse } from '../../gen/memory/v1/memory.ts';
import { batchReply } from './batch-reply.ts';

const HASH = fc.stringMatching(/^[0-9a-f]{64}$/);
const RESULT = fc.oneof(
  fc.record({ hash: HASH, duplicate: fc.boolean() }),
  fc.record({ errorCode: fc.constantFrom('VAL-E001', 'MEM-E005'), errorMessage: fc.string({ unit: 'grapheme' }) }),
);

test('the reply of a batch has the bytes of the generated code', () => {
  fc.assert(
    fc.property(fc.array(RESULT, { maxLength: 300 }), (drawn) => {
      const results = drawn.map((result, index) => ({ index, ...result }));
      const added = results.flatMap((one) =>
        'hash' in one && !one.duplicate ? [{ index: one.index, blobHash: one.hash }] : [],
      );
      const duplicates = results.flatMap((one) =>
        'hash' in one && one.duplicate ? [{ index: one.index, blobHash: one.hash }] : [],
      );
      const errors = results.flatMap((one) =>
        'hash' in one ? [] : [{ index: one.index, code: one.errorCode, error: one.errorMessage }],
      );
      const totals = {
        totalAdded: added.length,
        totalErrors: errors.length,
        totalDuplicates: duplicates.length,
      };
      const expected = BatchAddResponse.encode(BatchAddResponse.fromPartial({ results, ...totals })).finish();
      assert.deepEqual(batchReply({ added, duplicates, errors, ...totals }), Buffer.from(expected));
    }),
    { numRuns: 200 },
  );
});
