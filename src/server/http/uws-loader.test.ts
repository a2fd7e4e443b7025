import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { DIGESTS } from './uws-digests.ts';
import { loadUws, loadUwsFrom } from './uws-loader.ts';
import { patchElf } from './uws-patch.ts';

const FOLDER = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
const OWN = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The output of a process: the library cannot be loaded twice in one. */
function printed(...expression: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', expression.join('\n')], {
    encoding: 'utf8',
  });
  return (stdout + stderr).trim();
}

const loadsItself = (path: string): string =>
  printed(`const m = { exports: {} }; process.dlopen(m, ${JSON.stringify(path)}); console.log(typeof m.exports.App);`);

/** The type of `App` where the loader loads the package in `root`, else its reason. */
const loads = (root: string, folders: readonly string[]): string =>
  printed(
    `import { loadUwsFrom } from ${JSON.stringify(import.meta.resolve('./uws-loader.ts'))};`,
    `const found = loadUwsFrom(${JSON.stringify(root)}, ${JSON.stringify(folders)}.map((one) => () => one));`,
    'console.log(found.reason ?? typeof found.uws.App);',
  );

const isThere = existsSync(join(FOLDER, OWN));
/** Undefined where the published binary loads as it is. */
const refusal = isThere ? /GLIBC_2\.38/.exec(loadsItself(join(FOLDER, OWN)))?.[0] : undefined;

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

test('the loader returns the module, or the reason, once', () => {
  const found = loadUws();
  // A platform that has a binary uses it.
  if (isThere) assert.ok('uws' in found && typeof found.uws.SSLApp === 'function', JSON.stringify(found));
  else assert.ok('reason' in found && found.reason.startsWith('uWebSockets.js '));
  assert.equal(loadUws(), found);
});

test('the package alone is enough, whatever the C library: no file is left behind', { skip: !isThere && OWN }, (t) => {
  const root = temporaryDirectory(t);
  const folders = ['read-only', 'private'].map((name) => join(root, name));
  mkdirSync(folders[1]!);
  copyFileSync(join(FOLDER, OWN), join(root, OWN));
  // The first folder does not exist.
  assert.equal(loads(root, folders), 'function');
  assert.deepEqual(readdirSync(folders[1]!), []);
});

test('a patched binary, as the built package has it, needs no folder', {
  skip: !isThere || DIGESTS[OWN]?.patched === undefined ? OWN : false,
}, (t) => {
  const root = temporaryDirectory(t);
  writeFileSync(join(root, OWN), patchElf(readFileSync(join(FOLDER, OWN))));
  assert.equal(loads(root, [join(root, 'missing')]), 'function');
});

test('without a folder for the patched copy there is a reason for each', {
  skip: refusal === undefined && 'the C library is new enough',
}, (t) => {
  const root = temporaryDirectory(t);
  copyFileSync(join(FOLDER, OWN), join(root, OWN));
  writeFileSync(join(root, 'file'), '');
  const reason = loads(root, [join(root, 'missing'), join(root, 'file')]);
  assert.match(
    reason,
    /^uWebSockets\.js cannot be loaded: no folder takes the patched copy \(.*ENOENT.*; .*ENOTDIR.*\)$/,
  );
});

test('a binary with another digest is not loaded, even if it would load', { skip: !isThere && OWN }, (t) => {
  const root = temporaryDirectory(t);
  const published = readFileSync(join(FOLDER, OWN));
  writeFileSync(join(root, OWN), refusal === undefined ? published : patchElf(published));
  // A byte after the end, which nothing reads.
  appendFileSync(join(root, OWN), Buffer.of(0));
  assert.equal(loadsItself(join(root, OWN)), 'function');
  const refused = loadUwsFrom(root);
  assert.ok('reason' in refused);
  assert.match(
    refused.reason,
    /^uWebSockets\.js is not loaded: .* is not the expected file \(its SHA-256 is [0-9a-f]{64}\)$/,
  );
});
