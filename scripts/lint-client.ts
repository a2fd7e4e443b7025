// Checks the package `granary-client` as it would be published: packed, installed in an empty folder, and read by publint
// and attw, which are no dependencies. `npm run lint-client`. Skips aloud without a registry.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildClient } from './build-client.ts';

/** attw reads only the last piece of what the next version of fflate unpacks. */
const LINTERS = [
  { packs: ['publint@0.3.25'], words: ['publint', '--strict'] },
  { packs: ['@arethetypeswrong/cli@0.18.2', 'fflate@0.8.2'], words: ['attw'] },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'granary-client-'));
try {
  const built = join(folder, 'built');
  const empty = join(folder, 'empty');
  buildClient(built);
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: built,
    encoding: 'utf8',
  });
  const tarball = join(folder, packed.trim());
  mkdirSync(empty);
  writeFileSync(join(empty, 'package.json'), '{ "private": true }\n');
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', tarball], { cwd: empty, stdio: 'inherit' });
  const program =
    "const { Granary } = require('granary-client'); new Granary({ url: 'http://localhost' }).memory('m');";
  execFileSync(process.execPath, ['-e', program], { cwd: empty, stdio: 'inherit' });
  const module = "import { Granary } from 'granary-client'; new Granary({ url: 'http://localhost' }).memory('m');";
  execFileSync(process.execPath, ['--input-type=module', '-e', module], { cwd: empty, stdio: 'inherit' });
  for (const { packs, words } of LINTERS) {
    const named = packs.map((pack) => `--package=${pack}`);
    const linter = spawnSync('npm', ['exec', '--yes', ...named, '--', ...words, tarball], {
      cwd: empty,
      encoding: 'utf8',
    });
    process.stdout.write(linter.stdout);
    process.stderr.write(linter.stderr);
    const isAbsent = /npm (?:error|ERR!) (?:code )?(?:E404|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENOTCACHED)/.test(
      linter.stderr,
    );
    if (isAbsent) console.log(`skipped: ${packs[0]}, as no registry gives it`);
    else if (linter.status !== 0) throw new Error(`${packs[0]} found a fault`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
