import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { needsPatch, PUBLISHED, patchElf } from '../../../scripts/patch-uws.mjs';
import { loadUws } from './uws-loader.ts';

const require = createRequire(import.meta.url);
const FOLDER = dirname(require.resolve('uWebSockets.js'));

test('every published binary is the one that is known, and its patch changes seven bytes at most', () => {
  for (const [name, digest] of Object.entries(PUBLISHED)) {
    const published = readFileSync(join(FOLDER, name));
    assert.equal(createHash('sha256').update(published).digest('hex'), digest, name);
    const patched = patchElf(published);
    assert.equal(patched.length, published.length);
    let changed = 0;
    for (let at = 0; at < published.length; at += 4_096) {
      const [before, after] = [published.subarray(at, at + 4_096), patched.subarray(at, at + 4_096)];
      if (!before.equals(after)) for (const [place, byte] of before.entries()) if (after[place] !== byte) changed++;
    }
    // A name and a version for each function that is asked for, and one flag.
    assert.ok(changed === 7 || changed === 5, `${name}: ${changed} bytes`);
  }
});

test('what is not such a file is refused', () => {
  assert.throws(() => patchElf(Buffer.alloc(4_096)), /unexpected ELF file/);
  assert.throws(() => patchElf(readFileSync(join(FOLDER, 'uws_darwin_x64_137.node'))), /unexpected ELF file/);
  // Patched once, it asks the newer library for nothing that a second patch could redirect, and stays as it is.
  const once = patchElf(readFileSync(join(FOLDER, 'uws_linux_x64_137.node')));
  assert.ok(patchElf(once).equals(once));
});

test('a patched copy loads where the published file does not', {
  skip: !needsPatch() && 'the C library is new enough',
}, () => {
  const name = `uws_linux_${process.arch}_${process.versions.modules}.node`;
  assert.ok(existsSync(join(FOLDER, name)), `there is a binary for ${name}`);
  assert.throws(() => require(join(FOLDER, name)), /GLIBC_2\.38/);
  const folder = mkdtempSync(join(tmpdir(), 'granary-uws-'));
  try {
    const patched = join(folder, name);
    writeFileSync(patched, patchElf(readFileSync(join(FOLDER, name))), { mode: 0o755 });
    assert.equal(typeof require(patched).App, 'function');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the loader gives the module or says why not, once', () => {
  const found = loadUws();
  if ('uws' in found) assert.equal(typeof found.uws.SSLApp, 'function');
  else assert.match(found.reason, /^uWebSockets\.js /);
  assert.equal(loadUws(), found);
});
