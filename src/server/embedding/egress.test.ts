import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryRecord } from '../control/records.ts';
import { departureForVectors, outsideBackends, sendsForVectors, type VectorsSetup } from './egress.ts';

const ABROAD = { external: true };
const REMOTE: VectorsSetup = { own: 'remote', destination: ABROAD };
const BUILTIN: VectorsSetup = { own: 'use-lite', destination: ABROAD };
const PERSONAL = 'Write to ann@example.org from 192.168.7.9';

type Memory = Pick<MemoryRecord, 'vectorBackend' | 'governing' | 'policy' | 'sealing'>;

/** The part of a text with personal data that may be sent; undefined: none. */
function forVectors(memory: Memory, setup: VectorsSetup): string | undefined {
  const departure = departureForVectors(memory, setup);
  const isSent = departure !== undefined && 'leaving' in departure;
  assert.equal(sendsForVectors(memory, setup), isSent);
  return isSent ? departure.leaving(PERSONAL) : undefined;
}
const madeWith = (preset: string): Memory => ({ policy: { presets: [preset], overrides: {}, sealedBy: 'test' } });

test('texts go to the service when the memory chose it, or chose none and the deployment did', () => {
  assert.equal(forVectors({ vectorBackend: 'remote' }, BUILTIN), PERSONAL);
  assert.equal(forVectors({}, REMOTE), PERSONAL);
  assert.equal(forVectors({}, BUILTIN), undefined);
  for (const vectorBackend of ['use-lite', 'ngram', 'none'])
    assert.equal(forVectors({ vectorBackend }, REMOTE), undefined);
  assert.equal(forVectors({ vectorBackend: 'remote' }, { own: 'remote', destination: undefined }), undefined);
});

test('a service on this machine is not external', () => {
  const here: VectorsSetup = { own: 'use-lite', destination: { external: false } };
  assert.equal(forVectors({ vectorBackend: 'use-lite', ...madeWith('hipaa') }, here), PERSONAL);
  assert.deepEqual(outsideBackends({ ...here, own: 'remote' }), { backends: [] });
  assert.deepEqual(outsideBackends(REMOTE).backends, ['', 'remote']);
  assert.deepEqual(outsideBackends(BUILTIN).backends, ['remote']);
});

test('texts are redacted or kept as the policy says, from the first grain on', () => {
  for (const preset of ['gdpr', 'soc2'])
    assert.equal(forVectors(madeWith(preset), REMOTE), 'Write to [EMAIL] from [IP_ADDRESS]', preset);
  assert.equal(forVectors(madeWith('hipaa'), REMOTE), undefined);
  assert.equal(forVectors({ sealing: true }, REMOTE), undefined);
});
