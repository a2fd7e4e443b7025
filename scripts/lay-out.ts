// Lays out the files of an installed server below a folder, as the container image and the Debian package hold them:
// /usr/lib/granary with Node, the built program and the packages that it loads, and the command /usr/bin/granary.
// `node scripts/lay-out.ts FOLDER` takes dist/ and node_modules/ of this repository, and Node for this platform. Of
// packages it takes what a running server reads: no development packages, sources, types or source maps.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { withoutSymbols } from './elf-symbols.ts';
import { prunePackages } from './prune-packages.mjs';

export const ROOT = join(import.meta.dirname, '..');
const HOME = 'usr/lib/granary';
const NODE = `node-${process.platform}-${process.arch}`;
const OWN_FILES = ['package.json', 'LICENSE', 'NOTICE', 'CHANGELOG.md'];

/** It replaces itself by Node, so that signals reach the server. */
const COMMAND = `#!/bin/sh
exec /${HOME}/bin/node /${HOME}/dist/cli/main.js "$@"
`;

/** Fills `target`, which is emptied first, with the built program in `dist`. Both are absolute paths. */
export function layOut(target: string, dist: string): void {
  if (process.platform !== 'linux') throw new Error('the layout is one of Linux');
  if (!existsSync(join(dist, 'cli/main.js'))) throw new Error(`${dist} holds no build: run npm run build`);
  rmSync(target, { recursive: true, force: true });
  const home = join(target, HOME);
  copyTree(dist, join(home, 'dist'));
  copyTree(join(ROOT, 'proto'), join(home, 'proto'));
  for (const file of OWN_FILES) copyFile(join(ROOT, file), join(home, file));
  for (const path of productionPackages()) if (path !== `node_modules/${NODE}`) copyPackage(path, home);
  prunePackages(home);
  pruneOtherVersions(home);
  const node = withoutSymbols(readFileSync(join(ROOT, 'node_modules', NODE, 'bin/node')));
  writeProgram(join(home, 'bin/node'), node);
  copyFile(join(ROOT, 'node_modules', NODE, 'LICENSE'), join(home, 'bin/LICENSE'));
  writeProgram(join(target, 'usr/bin/granary'), COMMAND);
}

interface Locked {
  readonly dev?: true;
  readonly optional?: true;
}

/** Folders of packages that `npm ci --omit=dev` installs on this platform, relative to the repository. */
export function productionPackages(): readonly string[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  }; // npm's own file
  const paths = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return paths
    .filter(([path, { optional }]) => {
      if (existsSync(join(ROOT, path, 'package.json'))) return true;
      if (optional === true) return false;
      throw new Error(`${path} is not installed: run npm ci`);
    })
    .map(([path]) => path);
}

/** Sources, types, source maps and texts: no program reads them when it runs. */
const UNREAD = /\.(map|md|markdown|flow|h|hpp|c|cc|cpp|gyp|gypi|ts|cts|mts|tsbuildinfo)$/i;
const LEGAL = /^(licen[cs]e|notice|copying|authors|patents)/i;
/** Folders at the top of a package that are for its own developers. */
const DEVELOPMENT = new Set([
  'test',
  'tests',
  '__tests__',
  'benchmark',
  'benchmarks',
  'example',
  'examples',
  '.github',
]);

function copyPackage(path: string, home: string): void {
  const from = join(ROOT, path);
  const names = readdirSync(from).filter((name) => name !== 'node_modules' && !DEVELOPMENT.has(name));
  // Some packages state their licence in their README alone.
  const hasLicence = names.some((name) => LEGAL.test(name));
  for (const name of names) {
    const isKept = LEGAL.test(name) || (!hasLicence && /^readme/i.test(name));
    copyTree(
      join(from, name),
      join(home, path, name),
      (file) => isKept || LEGAL.test(file) || !(UNREAD.test(file) || file.startsWith('.')),
    );
  }
}

/** Binaries for other versions of Node than the one beside them, for other platforms, and for another C library. */
function pruneOtherVersions(home: string): void {
  const own = `_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const rules: readonly (readonly [string, (name: string) => boolean])[] = [
    ['dist/server/http', (name) => name.startsWith('uws_') && !name.endsWith(own)],
    [`node_modules/@lmdb/lmdb-${process.platform}-${process.arch}`, isOtherBinary],
    [`node_modules/@msgpackr-extract/msgpackr-extract-${process.platform}-${process.arch}`, isOtherBinary],
  ];
  for (const [name, isUnused] of rules) {
    const folder = join(home, name);
    if (!existsSync(folder)) continue;
    for (const file of readdirSync(folder)) if (isUnused(file)) rmSync(join(folder, file));
  }
}

/** Their loader takes a binary for the exact version before the one for all versions (node.napi.glibc.node). */
function isOtherBinary(name: string): boolean {
  if (!name.endsWith('.node')) return false;
  return name.includes('.musl.') || (name.includes('.abi') && !name.includes(`.abi${process.versions.modules}.`));
}

/** Copies a file or folder. Files get the mode 0644 and folders 0755, whatever they have here; empty folders are left out. */
function copyTree(from: string, to: string, isKept: (name: string) => boolean = () => true): void {
  const found = statSync(from);
  if (found.isDirectory()) for (const name of readdirSync(from)) copyTree(join(from, name), join(to, name), isKept);
  else if (found.isFile() && isKept(basename(from))) copyFile(from, to);
}

/** Copies a file, with the mode 0644 whatever it has here. */
export function copyFile(from: string, to: string): void {
  write(to, readFileSync(from));
}

function writeProgram(path: string, content: Uint8Array | string): void {
  write(path, content, 0o755);
}

/** Writes a file and its folders, which get the mode 0755. */
export function write(path: string, content: Uint8Array | string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) throw new Error('usage: node scripts/lay-out.ts FOLDER');
  layOut(resolve(target), join(ROOT, 'dist'));
}
