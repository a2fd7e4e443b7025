import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayAsk, mayLeave } from './egress.ts';

const ABROAD = 'https://embeddings.example/v1';

test('texts leave for the service when the memory chose it, or nothing else and the deployment did', () => {
  const remote = { embedder: 'remote', embeddingUrl: ABROAD } as const;
  const builtin = { embedder: 'builtin', embeddingUrl: ABROAD } as const;
  assert.equal(mayLeave({ vectorBackend: 'remote' }, builtin), true);
  assert.equal(mayLeave({}, remote), true);
  assert.equal(mayLeave({}, builtin), false);
  for (const vectorBackend of ['builtin', 'ngram', 'none']) assert.equal(mayLeave({ vectorBackend }, remote), false);
});

test('a service on this machine is no outside', () => {
  for (const embeddingUrl of ['http://127.0.0.1:11434', 'http://localhost:8000/v1', 'http://[::1]:1234'])
    assert.equal(mayLeave({ vectorBackend: 'builtin' }, { embedder: 'builtin', embeddingUrl }), true, embeddingUrl);
  for (const embeddingUrl of ['http://127.0.0.1.example', 'http://10.0.0.1', 'no address', undefined])
    assert.equal(mayLeave({}, { embedder: 'builtin', ...(embeddingUrl && { embeddingUrl }) } as never), false);
});

test('a policy keeps texts from services outside, from the first grain on and when it changes, and not from those here', () => {
  const made = (preset: string) => ({ policy: { presets: [preset], overrides: {}, sealedBy: 'test' } });
  const now = (egress: 'allow' | 'redact' | 'block') => ({
    governing: { presets: [], guardrailPatterns: [], guardrailMode: 'exact', egress },
  });
  const outside = 'https://models.example.org/v1';
  for (const preset of ['gdpr', 'hipaa']) {
    assert.equal(
      mayLeave({ vectorBackend: 'remote', ...made(preset) }, { embedder: 'remote', embeddingUrl: ABROAD }),
      false,
      preset,
    );
    assert.equal(mayAsk(made(preset), outside), false, preset);
    assert.equal(mayAsk(made(preset), 'http://127.0.0.1:8080'), true, preset);
    assert.equal(mayAsk({ ...made(preset), ...now('allow') }, outside), true, 'the policy of now counts');
  }
  assert.equal(mayAsk(made('soc2'), outside), false);
  assert.equal(mayAsk(made('eu_ai_act'), outside), true);
  assert.equal(mayAsk(now('redact'), outside), false);
  assert.equal(mayAsk({}, outside), true);
});
