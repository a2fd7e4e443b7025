import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutNames } from './audit.ts';

test('details are shown without the enciphered names of grains', () => {
  const name = '00'.repeat(33);
  const shown = withoutNames({ grain: name, old_grain: name, prior_grain: name, source: name, grain_type: 'belief' });
  assert.deepEqual(shown, { grain_type: 'belief' });
  assert.deepEqual(withoutNames(undefined), {});
});
