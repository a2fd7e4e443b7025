// The list of live segment files: one value of the log's state, written in the same transaction as the change of the
// files takes effect. A file that is not in it is left over from a crash.
//
//   manifest := format version 1, then variable-length integers: sealed sequence, next file id,
//               number of files, each (id, first, last); number of dead chunks, each (file id, memory)
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../../log/log.ts';
import { ByteReader, ByteWriter } from './bytes.ts';

const FORMAT_VERSION = 1;
export const MANIFEST_KEY = 'manifest';

export interface Manifest {
  /** The files contain everything up to it. */
  readonly sealedSequence: Sequence;
  readonly nextFileId: number;
  readonly files: readonly { readonly id: number; readonly first: Sequence; readonly last: Sequence }[];
  /** Dead chunks of a file, which no longer count: file id to memories. */
  readonly dead: ReadonlyMap<number, ReadonlySet<number>>;
}

export const EMPTY_MANIFEST: Manifest = {
  sealedSequence: 0,
  nextFileId: 1,
  files: [],
  dead: new Map(),
};

export function encodeManifest(manifest: Manifest): Uint8Array {
  const out = new ByteWriter();
  out.u8(FORMAT_VERSION);
  out.varint(manifest.sealedSequence);
  out.varint(manifest.nextFileId);
  out.varint(manifest.files.length);
  for (const { id, first, last } of manifest.files) for (const value of [id, first, last]) out.varint(value);
  const dead = [...manifest.dead].flatMap(([id, memories]) => [...memories].map((memory) => [id, memory] as const));
  out.varint(dead.length);
  for (const pair of dead) for (const value of pair) out.varint(value);
  return out.view().slice();
}

export function decodeManifest(bytes: Uint8Array): Manifest {
  const reader = new ByteReader(bytes);
  const version = reader.u8();
  if (version !== FORMAT_VERSION)
    throw new EngineError('STO-E001', `segments have format ${version}, not ${FORMAT_VERSION}`);
  const sealedSequence = reader.varint();
  const nextFileId = reader.varint();
  const files = Array.from({ length: reader.varint() }, () => ({
    id: reader.varint(),
    first: reader.varint(),
    last: reader.varint(),
  }));
  const dead = new Map<number, Set<number>>();
  for (let left = reader.varint(); left > 0; left--) {
    const id = reader.varint();
    const memories = dead.get(id) ?? new Set();
    memories.add(reader.varint());
    dead.set(id, memories);
  }
  assert(reader.left === 0, 'a manifest ends where it should');
  return { sealedSequence, nextFileId, files, dead };
}

const FILE_NAME = /^(\d{8,})\.seg$/;

export function fileName(id: number): string {
  return `${String(id).padStart(8, '0')}.seg`;
}

/** The id in a segment file's name, or undefined for another name. */
export function fileId(name: string): number | undefined {
  const match = FILE_NAME.exec(name);
  return match === null ? undefined : Number(match[1]);
}
