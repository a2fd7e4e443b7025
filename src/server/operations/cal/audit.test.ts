import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../context.ts';
import { auditQuery } from './audit.ts';

test('the record of a BATCH has the grains that the whole query looked at, and those that it names', async () => {
  const kept: unknown[] = [];
  // Nothing else of the context is used.
  const context = {
    services: { config: { calAudit: 'off' } },
    call: async (method: string, input: object) => kept.push({ method, ...input }),
  } as unknown as Context;
  const hash = 'ab'.repeat(32);
  const entry = (scanned: number) => ({
    ...{ type: 'grains', grains: [{ hash: `sha256:${hash}`, text: '"grains_scanned":9000' }], total: 1 },
    _cal: { budget: { grains_scanned: scanned } },
  });
  const result = {
    ...{ type: 'batch', results: { a: entry(3), b: entry(37) } },
    _cal: { budget: { grains_scanned: 40 } },
  };
  const reply = {
    ...{ resultJson: JSON.stringify(result), statementType: 'batch', resultCount: 2, warnings: [] },
    ...{ tier: 0 as const, withoutVector: [] },
  };
  await auditQuery(context, { queryHash: 'q', durationMs: 1, reply });
  assert.partialDeepStrictEqual(kept, [
    { method: 'keepRecall', candidateCount: 40, resultCount: 2, results: [{ hash, score: [] }] },
  ]);
});
