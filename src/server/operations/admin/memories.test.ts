import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MEMORY_SETTINGS_BYTES_MAX } from '../../../engine/base/limits.ts';
import { MemoryLogStore } from '../../../engine/log/memory.ts';
import { ADMIN, ask, makeParts, type Parts } from '../../testing/parts.ts';

const make = (parts: Parts, json: unknown) => ask(parts, 'POST', '/memories', { key: ADMIN, json });

test('region and settings are stored unchanged, across a restart', async () => {
  const store = new MemoryLogStore();
  const first = await makeParts({ store });
  const settings = { theme: { dark: true }, snake_case: [1, null], camelCase: '' };
  const made = await make(first, { id: 'eu', region: 'eu-west', settings });
  assert.deepEqual([made.status, made.body['region'], made.body['settings']], [201, 'eu-west', settings]);
  await make(first, { id: 'plain', region: null, settings: null });
  await first.close();
  const second = await makeParts({ store });
  const shown = async (id: string) => (await ask(second, 'GET', `/memories/${id}`, { key: ADMIN })).body;
  const { region, settings: kept } = await shown('eu');
  assert.deepEqual([region, kept], ['eu-west', settings]);
  const plain = await shown('plain');
  assert.ok(!('region' in plain));
  assert.deepEqual(plain['settings'], {});
});

test('an invalid setting of a new memory is named', async () => {
  const parts = await makeParts();
  for (const [json, code, field] of [
    [{ settings: 'dark' }, 'VAL-E003', 'settings'],
    [{ settings: { text: 'x'.repeat(MEMORY_SETTINGS_BYTES_MAX) } }, 'VAL-E001', 'settings'],
    [{ settings: { count: 2n ** 60n } }, 'VAL-E001', 'settings'],
    [{ region: 7 }, 'VAL-E003', 'region'],
    [{ name: 'a\0b' }, 'VAL-E001', 'name'],
    [{ description: '\0' }, 'VAL-E001', 'description'],
    [{ language: 'zz' }, 'VAL-E001', 'language'],
    [{ language: 'english' }, 'VAL-E001', 'language'],
    [{ vector_backend: 'pinecone' }, 'VAL-E001', 'vector_backend'],
    [{ vector_backend: 'remote' }, 'VAL-E001', 'vector_backend'],
    [{ vector_backend: 1 }, 'VAL-E003', 'vector_backend'],
  ] as const) {
    const { error } = await make(parts, json);
    assert.deepEqual([error?.code, error?.details[0]?.field], [code, field]);
  }
  assert.equal((await make(parts, { id: 'cs', language: 'cs' })).body['language'], 'cs');
  const { vector_backend, warnings } = (await make(parts, { id: 'bare', vector_backend: 'none' })).body;
  assert.deepEqual([vector_backend, warnings], ['none', undefined]);
});

test('names are stored in NFC', async () => {
  const parts = await makeParts();
  assert.equal((await make(parts, { name: 'Zoe\u0301' })).body['name'], 'Zo\u00e9');
  const key = await ask(parts, 'POST', '/auth/keys', { key: ADMIN, json: { name: 'Zoe\u0301' } });
  assert.equal(key.body['name'], 'Zo\u00e9');
});
