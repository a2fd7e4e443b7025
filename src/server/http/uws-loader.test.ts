import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { DIGESTS, needsPatch, patchElf } from '../../../scripts/patch-uws.mjs';
import { loadUws, loadUwsFrom } from './uws-loader.ts';

const require = createRequire(import.meta.url);
const FOLDER = dirname(require.resolve('uWebSockets.js'));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('every binary has a known digest, and a patch changes at most seven bytes', () => {
  const there = readdirSync(FOLDER).filter((name) => name.endsWith('.node'));
  assert.deepEqual(Object.keys(DIGESTS), there.sort());
  for (const [name, { published: digest, patched: asPatched }] of Object.entries(DIGESTS)) {
    const published = readFileSync(join(FOLDER, name));
    assert.equal(sha256(published), digest, name);
    assert.equal(asPatched !== undefined, name.includes('_linux_'), name);
    if (asPatched === undefined) continue;
    const patched = patchElf(published);
    assert.equal(sha256(patched), asPatched, name);
    assert.equal(patched.length, published.length);
    let changed = 0;
    for (let at = 0; at < published.length; at += 4_096) {
      const [before, after] = [published.subarray(at, at + 4_096), patched.subarray(at, at + 4_096)];
      if (!before.equals(after)) for (const [place, byte] of before.entries()) if (after[place] !== byte) changed++;
    }
    // A name and a version for each imported function, and one flag.
    assert.ok(changed === 7 || changed === 5, `${name}: ${changed} bytes`);
  }
});

test('other files are rejected', () => {
  assert.throws(() => patchElf(Buffer.alloc(4_096)), /unexpected ELF file/);
  assert.throws(() => patchElf(readFileSync(join(FOLDER, 'uws_darwin_x64_137.node'))), /unexpected ELF file/);
  // A patched file has no more imports to redirect, so patching again changes nothing.
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

test('the loader returns the module, or the reason, once', () => {
  const found = loadUws();
  if ('uws' in found) assert.equal(typeof found.uws.SSLApp, 'function');
  else assert.match(found.reason, /^uWebSockets\.js /);
  assert.equal(loadUws(), found);
});

test('a binary with another digest is not loaded, even if it would load', (t) => {
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const installed = [join(FOLDER, '..', '.cache', 'granary', name), join(FOLDER, name)].find((path) =>
    existsSync(path),
  );
  if (installed === undefined) return t.skip(`there is no ${name}`);
  const root = mkdtempSync(join(tmpdir(), 'granary-uws-'));
  t.after(() => rmSync(root, { recursive: true }));
  const [folder, cache] = [join(root, 'uWebSockets.js'), join(root, '.cache', 'granary')];
  for (const path of [folder, cache]) mkdirSync(path, { recursive: true });
  const entry = join(folder, 'uws.js');
  copyFileSync(join(FOLDER, name), join(folder, name));
  const isPatched = installed.includes('.cache');
  const target = isPatched ? join(cache, name) : join(folder, name);
  // A byte after the end, which nothing reads.
  writeFileSync(target, Buffer.concat([readFileSync(installed), Buffer.of(0)]));
  // In a separate process: the library cannot be loaded twice in one.
  const loads = spawnSync(process.execPath, ['-p', `typeof require(${JSON.stringify(target)}).App`], {
    encoding: 'utf8',
  });
  assert.equal(loads.stdout.trim(), 'function', loads.stderr);
  const refused = loadUwsFrom(entry);
  assert.ok('reason' in refused);
  assert.match(
    refused.reason,
    /^uWebSockets\.js is not loaded: .* is not the expected file \(its SHA-256 is [0-9a-f]{64}\)$/,
  );
});
