import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageOf } from './evidence.ts';

test('a topic is unknown where no word was found and nothing is much alike', () => {
  assert.equal(coverageOf([]), 'none');
  assert.equal(coverageOf([{ matched: 0 }]), 'none');
  assert.equal(coverageOf([{ matched: 0, cosine: 0.49 }]), 'none');
  assert.equal(coverageOf([{ matched: 0, cosine: 0.5 }]), 'partial');
  assert.equal(coverageOf([{ matched: 0, cosine: 0.3 }, { matched: 0.1 }]), 'partial');
  assert.equal(coverageOf([{ matched: 0.1 }, { matched: 0, cosine: 0.7 }]), 'full');
  assert.equal(coverageOf([{ matched: 0.69 }]), 'partial');
  assert.equal(coverageOf([{ matched: 0.7 }]), 'full');
});
