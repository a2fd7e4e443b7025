import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayLeave } from './egress.ts';

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
