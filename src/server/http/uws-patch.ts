// Makes the binaries of uWebSockets.js loadable on systems whose C library is older than the binaries require.
//
// The published Linux binaries need GLIBC_2.38, but only for __isoc23_strtol, __isoc23_strtoul and __isoc23_sscanf,
// which differ from the plain functions only in binary literals. A patched copy refers to the plain functions and makes
// the version requirement weak.

/** The version of the C library that the published binaries require. */
export const NEWER = 'GLIBC_2.38';
const PREFIX = '__isoc23_';
const REDIRECTED: ReadonlySet<string> = new Set(['strtol', 'strtoul', 'sscanf'].map((name) => PREFIX + name));
/** Version of the plain functions on each architecture, by ELF's e_machine. */
const BASE_VERSION: Readonly<Record<number, string>> = { 62: 'GLIBC_2.2.5', 183: 'GLIBC_2.17' };

const SHT_DYNSYM = 11;
const SHT_GNU_VERNEED = 0x6ffffffe;
const SHT_GNU_VERSYM = 0x6fffffff;
const VER_FLG_WEAK = 2;

/**
 * Returns a patched copy of a 64-bit little-endian ELF shared object. Throws when it needs GLIBC_2.38 for other
 * functions than the three, or has an unexpected layout. `bytes` is unchanged.
 */
export function patchElf(bytes: Uint8Array): Buffer {
  const elf = Buffer.from(bytes);
  expect(elf.readUInt32BE(0) === 0x7f454c46 && elf[4] === 2 && elf[5] === 1, 'not 64-bit little-endian');
  const baseVersion = BASE_VERSION[elf.readUInt16LE(18)];
  expect(baseVersion !== undefined, 'unknown architecture');

  const sections = readSections(elf);
  const dynsym = sections.find(({ type }) => type === SHT_DYNSYM);
  const versym = sections.find(({ type }) => type === SHT_GNU_VERSYM);
  const verneed = sections.find(({ type }) => type === SHT_GNU_VERNEED);
  const strings = dynsym === undefined ? undefined : sections[dynsym.link];
  if (dynsym === undefined || versym === undefined || verneed === undefined || strings === undefined)
    throw unexpected('a dynamic symbol section is missing');
  const text = (at: number): string => {
    const start = strings.offset + at;
    return elf.toString('latin1', start, elf.indexOf(0, start));
  };

  const needs = readNeeds(elf, verneed, text).filter(({ file }) => file.startsWith('libc.so'));
  const newer = needs.find(({ version }) => version === NEWER);
  const base = needs.find(({ version }) => version === baseVersion);
  if (newer === undefined || base === undefined)
    throw unexpected(`${NEWER} or ${baseVersion} is not required from libc`);

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

function expect(condition: boolean, fact: string): void {
  if (!condition) throw unexpected(fact);
}

function unexpected(fact: string): Error {
  return new Error(`unexpected ELF file: ${fact}`);
}

interface Section {
  readonly type: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
  readonly info: number;
}

function readSections(elf: Buffer): readonly Section[] {
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

interface Need {
  readonly file: string;
  readonly version: string;
  readonly index: number;
  /** Offset of its Elf64_Vernaux entry. */
  readonly at: number;
}

/** Versions required from each library: Elf64_Verneed, each followed by its Elf64_Vernaux entries. */
function readNeeds(elf: Buffer, verneed: Section, text: (at: number) => string): readonly Need[] {
  const needs: Need[] = [];
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
