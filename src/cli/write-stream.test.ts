import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, readSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../test/support/temporary.ts';
import { intoFile, type Piece } from './write-stream.ts';

async function* pieces(): AsyncGenerator<Piece> {
  yield { bytes: Buffer.from('one'), grains: 1 };
  yield { bytes: Buffer.from('two'), grains: 2 };
}

test('a pipe is written to, and not replaced by a file', async (t) => {
  const folder = temporaryDirectory(t);
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Open for both, so that nothing waits for the other side.
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  const written = await intoFile(pieces(), pipe, { json: true });
  assert.ok(lstatSync(pipe).isFIFO(), 'it is still a pipe');
  const read = Buffer.alloc(10);
  assert.equal(read.toString('utf8', 0, readSync(reader, read)), 'onetwo');
  assert.deepEqual(written, { bytes: 6, grains: 2 });
  assert.deepEqual(readdirSync(folder), ['pipe']);
});

test('a link to a device is written through', async (t) => {
  const link = join(temporaryDirectory(t), 'link');
  symlinkSync('/dev/null', link);
  await intoFile(pieces(), link, { json: true });
  assert.ok(lstatSync(link).isSymbolicLink());
});

test('a file appears once it is complete, and an earlier one stays until then', async (t) => {
  const folder = temporaryDirectory(t);
  const path = join(folder, 'out');
  await intoFile(pieces(), path, { json: true });
  const broken = async function* (): AsyncGenerator<Piece> {
    yield { bytes: Buffer.from('three'), grains: 1 };
    throw new Error('broken off');
  };
  await assert.rejects(intoFile(broken(), path, { json: true }), /broken off/);
  assert.equal(readFileSync(path, 'utf8'), 'onetwo');
  assert.deepEqual(readdirSync(folder), ['out']);
});
