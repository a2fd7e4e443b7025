import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '../../../../test/support/runs.ts';
import { CODE } from './frames.ts';
import { fuzz } from './testing/fuzz.ts';

// `npm run fuzz-http2` sends ten million frames.
test('random frames are answered, or end their connection', async () => {
  const report = await fuzz(2_026, runs(20_000));
  assert.ok(report.calls > 1_000, `${report.calls} calls`);
  // Connections ended for their peer's errors, and others did not.
  assert.ok((report.ended[CODE.PROTOCOL_ERROR] ?? 0) > 10);
  assert.ok((report.ended[CODE.COMPRESSION_ERROR] ?? 0) > 0);
  assert.equal(report.ended[CODE.INTERNAL_ERROR], undefined);
});
