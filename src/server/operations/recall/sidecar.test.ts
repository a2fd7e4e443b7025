import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryVector } from '../../embedding/query-vector.ts';
import type { Sidecar } from '../sidecar.ts';
import { peekAtJson } from './peek.ts';
import { packSidecar, sidecarOf, unpackSidecar } from './sidecar.ts';

const vector = { bytes: new Uint8Array(Float32Array.of(0.6, 0.8).buffer), of: 'who', embedder: 'modèle/1' };

interface Setting {
  readonly backend?: string;
  readonly isSettled?: boolean;
  readonly hasModels?: boolean;
  readonly made?: QueryVector;
}

/** The sidecar of a JSON body; `asked` are the embedded texts. */
function beside(
  body: unknown,
  { backend = 'builtin', isSettled = true, hasModels = false, made = { vector } }: Setting = {},
) {
  const asked: string[] = [];
  const services = {
    recallModels: { hasAny: hasModels },
    clock: { nowMs: () => 0 },
    embedders: { nameOf: () => backend },
    queryVectors: {
      isSettled: () => isSettled,
      of: async (_memory: unknown, { text }: { readonly text: string }) => {
        asked.push(text);
        return made;
      },
    },
  };
  const bytes = Buffer.from(JSON.stringify(body));
  const given = { services, memory: { number: 1 }, deadlineMs: 1_000 } as unknown as Parameters<Sidecar>[1]; // no more is read
  return { result: sidecarOf(peekAtJson)(bytes, given), asked };
}

test('a recall without words, or of a memory without vectors, is forwarded unchanged', () => {
  for (const [body, setting] of [
    [{ subject: 'ann' }, {}],
    [{ query: ' ' }, {}],
    [{ query: 'who', embedding: [1, 0] }, {}],
    [{ query: 'who' }, { backend: 'none' }],
    [{ query: 'who', hyde: true }, { backend: 'none' }],
    [{ query: 'who' }, { backend: 'none', hasModels: true }],
  ] as const) {
    const { result, asked } = beside(body, setting);
    assert.equal(result, undefined, JSON.stringify(body));
    assert.deepEqual(asked, []);
  }
});

test('a recall whose shard must be asked first, or that needs a model, is read on the main thread', () => {
  assert.equal(beside({ query: 'who' }, { isSettled: false }).result, 'here');
  assert.equal(beside({ query: 'who', hyde: true }, { hasModels: true }).result, 'here');
  assert.equal(beside({ query: 'who', rerank: true }, { backend: 'none', hasModels: true }).result, 'here');
});

test('any other recall carries its vector, or the reason why it has none', async () => {
  for (const made of [{ vector }, { warning: 'found by words alone: ünready' }, {}]) {
    const { result, asked } = beside({ query: ' who ' }, { made });
    assert.ok(result instanceof Promise);
    const back = unpackSidecar(await result, 'who');
    assert.deepEqual(asked, ['who']);
    assert.equal(back.warning, made.warning);
    assert.deepEqual(back.vector && { ...back.vector, bytes: new Uint8Array(back.vector.bytes) }, made.vector);
  }
});

test('a packed sidecar reads back at any offset', () => {
  const packed = packSidecar({ vector });
  const shifted = Buffer.concat([Buffer.alloc(3), packed]).subarray(3);
  assert.deepEqual([...unpackSidecar(shifted, 'who').vector!.bytes], [...vector.bytes]);
});
