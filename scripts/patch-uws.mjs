// Runs after installation: makes uWebSockets.js loadable on systems whose C library is older than its binaries require.
//
// The published Linux binaries need GLIBC_2.38, but only for __isoc23_strtol, __isoc23_strtoul and __isoc23_sscanf,
// which differ from the plain functions only in binary literals. A patched copy refers to the plain functions and makes
// the version requirement weak. The package's own files stay unchanged: the copy goes to node_modules/.cache/granary,
// where src/server/http/uws-loader.ts looks for it. Only files with a known SHA-256 are patched. The installation
// continues in any case: without a loadable binary the server uses node:http.
//
// Plain JavaScript, because npm may run it with a Node that cannot read TypeScript.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** SHA-256 of each binary of the version pinned in package.json, published and patched. The server loads no others. */
export const DIGESTS = createRequire(import.meta.url)('./uws-digests.json');

const NEWER = 'GLIBC_2.38';
const PREFIX = '__isoc23_';
const REDIRECTED = new Set(['strtol', 'strtoul', 'sscanf'].map((name) => PREFIX + name));
/** Version of the plain functions on each architecture, by ELF's e_machine. */
const BASE_VERSION = { 62: 'GLIBC_2.2.5', 183: 'GLIBC_2.17' };

const SHT_DYNSYM = 11;
const SHT_GNU_VERNEED = 0x6ffffffe;
const SHT_GNU_VERSYM = 0x6fffffff;
const VER_FLG_WEAK = 2;

/**
 * Returns a patched copy of a 64-bit little-endian ELF shared object. Throws when it needs GLIBC_2.38 for other
 * functions than the three, or has an unexpected layout. `bytes` is unchanged.
 */
export function patchElf(bytes) {
  const elf = Buffer.from(bytes);
  const expect = (condition, fact) => {
    if (!condition) throw new Error(`unexpected ELF file: ${fact}`);
  };
  expect(elf.readUInt32BE(0) === 0x7f454c46 && elf[4] === 2 && elf[5] === 1, 'not 64-bit little-endian');
  const baseVersion = BASE_VERSION[elf.readUInt16LE(18)];
  expect(baseVersion !== undefined, 'unknown architecture');

  const sections = readSections(elf);
  const dynsym = sections.find(({ type }) => type === SHT_DYNSYM);
  const versym = sections.find(({ type }) => type === SHT_GNU_VERSYM);
  const verneed = sections.find(({ type }) => type === SHT_GNU_VERNEED);
  expect(dynsym && versym && verneed, 'a dynamic symbol section is missing');
  const strings = sections[dynsym.link];
  const text = (at) => {
    const start = strings.offset + at;
    return elf.toString('latin1', start, elf.indexOf(0, start));
  };

  const needs = readNeeds(elf, verneed, text).filter(({ file }) => file.startsWith('libc.so'));
  const newer = needs.find(({ version }) => version === NEWER);
  const base = needs.find(({ version }) => version === baseVersion);
  expect(newer && base, `${NEWER} or ${baseVersion} is not required from libc`);

  for (let symbol = 0; symbol * 24 < dynsym.size; symbol++) {
    const versionAt = versym.offset + symbol * 2;
    if ((elf.readUInt16LE(versionAt) & 0x7fff) !== newer.index) continue;
    const nameAt = dynsym.offset + symbol * 24;
    const name = text(elf.readUInt32LE(nameAt));
    expect(REDIRECTED.has(name), `${NEWER} is required for ${name}`);
    // The plain name is the end of the long one, so the string table needs no change.
    elf.writeUInt32LE(elf.readUInt32LE(nameAt) + PREFIX.length, nameAt);
    elf.writeUInt16LE(base.index, versionAt);
  }
  elf.writeUInt16LE(elf.readUInt16LE(newer.at + 4) | VER_FLG_WEAK, newer.at + 4);
  return elf;
}

function readSections(elf) {
  const start = Number(elf.readBigUInt64LE(40));
  const size = elf.readUInt16LE(58);
  return Array.from({ length: elf.readUInt16LE(60) }, (_, number) => {
    const at = start + number * size;
    return {
      type: elf.readUInt32LE(at + 4),
      offset: Number(elf.readBigUInt64LE(at + 24)),
      size: Number(elf.readBigUInt64LE(at + 32)),
      link: elf.readUInt32LE(at + 40),
      info: elf.readUInt32LE(at + 44),
    };
  });
}

/** Versions required from each library: Elf64_Verneed, each followed by its Elf64_Vernaux entries. */
function readNeeds(elf, verneed, text) {
  const needs = [];
  let at = verneed.offset;
  for (let files = verneed.info; files > 0; files--) {
    const file = text(elf.readUInt32LE(at + 4));
    let auxiliary = at + elf.readUInt32LE(at + 8);
    for (let versions = elf.readUInt16LE(at + 2); versions > 0; versions--) {
      needs.push({
        file,
        version: text(elf.readUInt32LE(auxiliary + 8)),
        index: elf.readUInt16LE(auxiliary + 6),
        at: auxiliary,
      });
      auxiliary += elf.readUInt32LE(auxiliary + 12);
    }
    at += elf.readUInt32LE(at + 12);
  }
  return needs;
}

/**
 * True where the published binaries fail only because the C library is too old. False on musl, where the patch does not
 * help.
 */
export function needsPatch() {
  if (process.platform !== 'linux') return false;
  const version = process.report.getReport().header.glibcVersionRuntime;
  if (version === undefined) return false;
  const [major, minor] = version.split('.').map(Number);
  return major === 2 && minor < 38;
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function main() {
  if (!needsPatch()) return;
  const published = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
  const cache = join(published, '..', '.cache', 'granary');
  for (const [name, { published: asPublished, patched: asPatched }] of Object.entries(DIGESTS)) {
    const source = join(published, name);
    if (!name.startsWith(`uws_linux_${process.arch}_`) || !existsSync(source)) continue;
    const bytes = readFileSync(source);
    const patched = sha256(bytes) === asPublished ? patchElf(bytes) : undefined;
    if (patched === undefined || sha256(patched) !== asPatched) {
      console.warn(`granary: ${name} is not the expected file, so it is not patched; the server will use node:http`);
      continue;
    }
    mkdirSync(cache, { recursive: true });
    const target = join(cache, name);
    writeFileSync(`${target}.tmp`, patched, { mode: 0o755 });
    renameSync(`${target}.tmp`, target);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main();
  } catch (error) {
    console.warn(
      `granary: cannot prepare uWebSockets.js for this C library (${error.message}); the server will use node:http`,
    );
  }
}
