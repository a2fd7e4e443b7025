import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { EmbedError } from '../embedder.ts';
import { loadModel } from './model-file.ts';
import { encoderFolder } from './package-files.ts';
import { Weights } from './weights.ts';

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('two conversions give the same bytes, and the file holds them', (t) => {
  const cache = join(temporaryDirectory(t), 'new', 'cache');
  const first = loadModel(encoderFolder(), cache, 'fp32');
  const [file] = readdirSync(cache);
  const written = readFileSync(join(cache, file!));
  assert.equal(first.notice, undefined);
  assert.equal(digest(loadModel(encoderFolder(), undefined, 'fp32').onnx), digest(first.onnx));
  // The cached file is enough: without it this call would fail for lack of weights.
  assert.equal(digest(loadModel(join(cache, 'absent'), cache, 'fp32').onnx), digest(first.onnx));
  assert.deepEqual(readdirSync(cache), [file]);

  for (const damage of [
    (bytes: Buffer) => bytes.fill(bytes[1_000_000]! ^ 1, 1_000_000, 1_000_001),
    (bytes: Buffer) => bytes.subarray(0, 1_000),
    (bytes: Buffer) => bytes.subarray(0, 3),
    (bytes: Buffer) => bytes.fill(255, 8, 9),
    () => Buffer.alloc(0),
  ]) {
    writeFileSync(join(cache, file!), damage(Buffer.from(written)));
    // It is not taken for whole, so the weights are asked for.
    assert.throws(() => loadModel(join(cache, 'absent'), cache, 'fp32'), EmbedError);
  }
  assert.equal(digest(loadModel(encoderFolder(), cache, 'fp32').onnx), digest(first.onnx));
  assert.equal(digest(readFileSync(join(cache, file!))), digest(written));
});

test('the model in bytes takes a fourth, in a file of its own', (t) => {
  const cache = temporaryDirectory(t);
  const floats = loadModel(encoderFolder(), cache, 'fp32');
  const bytes = loadModel(encoderFolder(), cache, 'int8');
  assert.equal(readdirSync(cache).length, 2);
  assert.ok(bytes.onnx.length < 0.27 * floats.onnx.length, `${bytes.onnx.length} bytes`);
  assert.equal(digest(loadModel(join(cache, 'absent'), cache, 'int8').onnx), digest(bytes.onnx));
  assert.equal(digest(loadModel(join(cache, 'absent'), cache, 'fp32').onnx), digest(floats.onnx));
});

test('a folder without write access prevents caching, not loading', (t) => {
  const folder = temporaryDirectory(t);
  writeFileSync(join(folder, 'taken'), '');
  const { onnx, notice } = loadModel(encoderFolder(), join(folder, 'taken'), 'fp32');
  assert.ok(onnx.length > 20_000_000);
  assert.match(notice!, /cannot cache the encoder/);
});

test('damaged or missing weights are rejected', (t) => {
  const folder = temporaryDirectory(t);
  const copy = join(folder, 'weights');
  cpSync(encoderFolder(), copy, { recursive: true });
  const shard = join(copy, 'group1-shard3of7');
  const bytes = readFileSync(shard);
  bytes[77]! ^= 1;
  writeFileSync(shard, bytes);
  assert.throws(() => new Weights(copy), /weights differ from the ones/);
  rmSync(shard);
  assert.throws(() => new Weights(copy), /cannot read the encoder.s file group1-shard3of7/);
  writeFileSync(join(copy, 'model.json'), '{"weightsManifest":[]}');
  assert.throws(() => new Weights(copy), EmbedError);
  mkdirSync(join(folder, 'empty'));
  assert.throws(() => new Weights(join(folder, 'empty')), EmbedError);
});
