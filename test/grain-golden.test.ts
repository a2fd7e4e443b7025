// Test vectors of the grain codec, as lines of its command line. The published ones belong to the format; an
// independently written second encoder made the others and agrees byte for byte.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodeLine, encodeLine } from '../src/cli/grain.ts';
import { decodeAny, decodeGrain, encodeGrain, openGrain } from '../src/engine/grain/codec/blob.ts';
import { FLAG } from '../src/engine/grain/codec/header.ts';
import { GrainError } from '../src/engine/grain/error.ts';
import { GRAIN_TYPE_NAMES } from '../src/engine/grain/grain.ts';

function golden<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8'));
}

interface Vector {
  readonly name: string;
  readonly line: { readonly grain_type: string; readonly fields: object };
  readonly hash: string;
  readonly blob_hex?: string;
}

const VECTORS = [...golden<Vector>('grain-published.json'), ...golden<Vector>('grain-forms.json')];

for (const { name, line, hash, blob_hex: hex } of VECTORS)
  test(`a grain encodes, decodes and encodes again: ${name}`, () => {
    const encoded = encodeLine(line) as { hash: string; blob_hex: string };
    if (hex !== undefined) assert.equal(encoded.blob_hex, hex);
    assert.equal(encoded.hash, hash);
    const blob = Buffer.from(encoded.blob_hex, 'hex');
    if ((blob[1]! & FLAG.signed) !== 0) {
      assert.throws(() => decodeGrain(blob), { code: 'ERR_SIGNED_MISMATCH' });
      return;
    }
    const decoded = decodeLine({ blob_hex: encoded.blob_hex, hash });
    // As text, because the next program gets a line.
    assert.deepEqual(encodeLine(JSON.parse(JSON.stringify(decoded))), encoded);
    assert.deepEqual(openGrain(blob), decodeGrain(blob, { verifyReencode: true }));
  });

test('each grain type has bytes that it must always have', () => {
  const types = new Set(VECTORS.map(({ line }) => line.grain_type));
  for (const type of GRAIN_TYPE_NAMES) assert.ok(types.has(type), `test/golden/grain-forms.json has no ${type}`);
});

interface LongVector {
  readonly name: string;
  readonly field: string;
  readonly item: string | number;
  readonly count: number;
  readonly hash: string;
}

for (const { name, field, item, count, hash } of golden<LongVector>('grain-long.json'))
  test(`encodes and decodes a ${name}`, () => {
    const value = typeof item === 'string' ? item.repeat(count) : new Array<number>(count).fill(item);
    const { blob, address } = encodeGrain('reasoning', { created_at: 1768471200123, [field]: value });
    assert.equal(address, hash);
    assert.deepEqual(decodeGrain(blob, { verifyReencode: true }).fields[field], value);
  });

interface Malformed {
  readonly name: string;
  readonly blob_hex: string;
  readonly code: string;
}

for (const { name, blob_hex: hex, code } of golden<Malformed>('grain-malformed.json'))
  test(`a malformed grain is refused with ${code}: ${name}`, () => {
    assert.throws(
      () => decodeAny(Buffer.from(hex, 'hex')),
      (error) => error instanceof GrainError && error.code === code,
    );
  });
