import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MemoryRecord } from '../control/records.ts';
import { leavingForModel, leavingForVectors, outsideBackends } from './egress.ts';

const ABROAD = 'https://embeddings.example/v1';
const REMOTE = { embedder: 'remote', embeddingUrl: ABROAD } as const;
const BUILTIN = { embedder: 'builtin', embeddingUrl: ABROAD } as const;
const HERE = ['http://127.0.0.1:11434', 'http://localhost:8000/v1', 'http://[::1]:1234'];
const NOT_HERE = ['http://127.0.0.1.example', 'http://10.0.0.1', 'no address', undefined];
const PERSONAL = 'Write to ann@example.org from 192.168.7.9';

type Memory = Pick<MemoryRecord, 'vectorBackend' | 'governing' | 'policy' | 'sealing'>;

/** The part of a text with personal data that may be sent; undefined: none. */
const forVectors = (memory: Memory, config: Parameters<typeof leavingForVectors>[1]) =>
  leavingForVectors(memory, config)?.(PERSONAL);
const forModel = (memory: Memory, url: string | undefined) => leavingForModel(memory, url)?.(PERSONAL);
const madeWith = (preset: string): Memory => ({ policy: { presets: [preset], overrides: {}, sealedBy: 'test' } });
const governedNow = (egress: 'allow' | 'redact' | 'block', egressCategories?: '*' | readonly string[]): Memory => ({
  governing: {
    presets: [],
    guardrailPatterns: [],
    guardrailMode: 'exact',
    egress,
    ...(egressCategories === undefined ? {} : { egressCategories }),
  },
});
const REDACTED = 'Write to [EMAIL] from [IP_ADDRESS]';

test('texts go to the service when the memory chose it, or chose none and the deployment did', () => {
  assert.equal(forVectors({ vectorBackend: 'remote' }, BUILTIN), PERSONAL);
  assert.equal(forVectors({}, REMOTE), PERSONAL);
  assert.equal(forVectors({}, BUILTIN), undefined);
  for (const vectorBackend of ['builtin', 'ngram', 'none'])
    assert.equal(forVectors({ vectorBackend }, REMOTE), undefined);
});

test('a service on this machine is not external', () => {
  for (const embeddingUrl of HERE) {
    const config = { embedder: 'builtin', embeddingUrl } as const;
    assert.equal(forVectors({ vectorBackend: 'builtin', ...governedNow('block') }, config), PERSONAL, embeddingUrl);
    assert.deepEqual(outsideBackends({ embedder: 'remote', embeddingUrl }), []);
  }
  for (const embeddingUrl of NOT_HERE)
    assert.equal(forVectors({}, { embedder: 'builtin', embeddingUrl }), undefined, embeddingUrl);
  assert.deepEqual(outsideBackends(REMOTE), ['', 'remote']);
  assert.deepEqual(outsideBackends(BUILTIN), ['remote']);
});

test('texts are redacted as the policy says, from the first grain on and after changes', () => {
  const outside = 'https://models.example.org/v1';
  for (const preset of ['gdpr', 'soc2']) {
    assert.equal(forVectors({ vectorBackend: 'remote', ...madeWith(preset) }, REMOTE), REDACTED, preset);
    assert.equal(forModel(madeWith(preset), outside), REDACTED, preset);
  }
  assert.equal(forVectors({ vectorBackend: 'remote', ...madeWith('hipaa') }, REMOTE), undefined);
  assert.equal(forModel(madeWith('hipaa'), outside), undefined);
  assert.equal(forModel(madeWith('hipaa'), 'http://127.0.0.1:8080'), PERSONAL);
  assert.equal(
    forModel({ ...madeWith('gdpr'), ...governedNow('allow') }, outside),
    PERSONAL,
    'the policy of now counts',
  );
  assert.equal(forModel(madeWith('eu_ai_act'), outside), PERSONAL);
  assert.equal(forModel({}, outside), PERSONAL);
});

test('no text is sent while a policy is being sealed', () => {
  assert.equal(forModel({ ...governedNow('allow'), sealing: true }, 'https://models.example.org/v1'), undefined);
  assert.equal(forVectors({ vectorBackend: 'remote', sealing: true }, REMOTE), undefined);
});

test('only the policy’s categories are redacted, and all of them if a record has none', () => {
  const outside = 'https://models.example.org/v1';
  assert.equal(forModel(governedNow('redact'), outside), REDACTED);
  assert.equal(forModel(governedNow('redact', '*'), outside), REDACTED);
  assert.equal(forModel(governedNow('redact', []), outside), REDACTED);
  assert.equal(forModel(governedNow('redact', ['email']), outside), 'Write to [EMAIL] from 192.168.7.9');
  assert.equal(forModel(governedNow('redact', ['iban']), outside), PERSONAL);
});
