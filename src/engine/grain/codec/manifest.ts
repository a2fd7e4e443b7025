// The index manifest of a container: the index layer's data about grains, which blobs do not contain.
import { addressProblem, isAddress } from '../address.ts';
import { refuse } from '../error.ts';
import type { Address } from '../grain.ts';
import { VERIFICATION_STATUSES } from '../registry.ts';
import { isMap } from '../rules/validate.ts';
import { setOwn, type Value, type ValueMap } from '../value.ts';
import { startValues, writeValue } from './canonical.ts';
import { ANY } from './kind.ts';
import { startOutput, takeOutput, writeMapHead, writeText } from './msgpack.ts';
import { checkInputEnd, endInput, readValue, startInput } from './strict.ts';

export type VerificationStatus = 'unverified' | 'verified' | 'contested' | 'retracted';

/** A manifest's entry for one grain, claimed by the author of the file. Times are Unix milliseconds. */
export interface GrainStatus {
  readonly supersededBy?: Address;
  readonly systemValidTo?: number;
  readonly verificationStatus?: VerificationStatus;
  readonly accessCount?: number;
  readonly lastAccessedAt?: number;
}

const MANIFEST_DEPTH = 2;
/** Size from which a piece of the manifest is yielded. */
const PIECE_BYTES = 64 * 1024;
/** Upper bound of an entry: two addresses, three times and their keys stay well below it. */
const ENTRY_BYTES_MAX = 512;

/** The status with short keys, without absent and default values. */
function shortStatus(status: GrainStatus): ValueMap {
  const map: ValueMap = {};
  if (status.supersededBy !== undefined) map['sb'] = status.supersededBy;
  if (status.systemValidTo !== undefined) map['svt'] = status.systemValidTo;
  const verification = status.verificationStatus;
  if (verification !== undefined && verification !== 'unverified') map['vstatus'] = verification;
  if (status.accessCount) map['ac'] = status.accessCount;
  if (status.lastAccessedAt !== undefined) map['laa'] = status.lastAccessedAt;
  return map;
}

/** The entries that differ from the default, in canonical order. */
export function manifestEntries(manifest: ReadonlyMap<Address, GrainStatus>): [Address, ValueMap][] {
  const entries: [Address, ValueMap][] = [];
  for (const [address, status] of manifest) {
    const map = shortStatus(status);
    if (Object.keys(map).length > 0) entries.push([address, map]);
  }
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Yields a manifest (entries from `manifestEntries`) in pieces that the caller owns. */
export function* encodeManifest(entries: readonly (readonly [Address, ValueMap])[]): Generator<Buffer> {
  startOutput(ENTRY_BYTES_MAX);
  writeMapHead(entries.length);
  let pieces = [takeOutput()];
  let gathered = 0;
  for (const [address, map] of entries) {
    startOutput(ENTRY_BYTES_MAX);
    startValues({ keepMinusZero: false, depthMax: MANIFEST_DEPTH });
    writeText(address);
    writeValue(ANY, map, 2);
    const piece = takeOutput();
    pieces.push(piece);
    gathered += piece.length;
    if (gathered < PIECE_BYTES) continue;
    yield Buffer.concat(pieces);
    pieces = [];
    gathered = 0;
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

/**
 * Reads `bytes` as one manifest. Throws ERR_CORRUPT unless it is exactly one canonical map, and ERR_SCHEMA or ERR_RANGE for
 * values of the wrong kind. Drops unknown keys with a warning.
 */
export function readManifest(bytes: Uint8Array, warnings: string[]): Map<Address, GrainStatus> {
  startInput(bytes, 0, { strict: true, depthMax: MANIFEST_DEPTH });
  const map = readValue(ANY, 1, 'manifest');
  checkInputEnd();
  endInput();
  if (!isMap(map)) refuse('ERR_CORRUPT', 'manifest is not a map');
  const manifest = new Map<Address, GrainStatus>();
  for (const key of Object.keys(map)) {
    if (!isAddress(key)) refuse(addressProblem(key)!, 'manifest key is not an address');
    const entry = map[key];
    if (!isMap(entry)) refuse('ERR_SCHEMA', 'manifest entry is not a map');
    manifest.set(key, statusOf(entry, warnings));
  }
  return manifest;
}

function statusOf(entry: ValueMap, warnings: string[]): GrainStatus {
  const status: { -readonly [K in keyof GrainStatus]: GrainStatus[K] } = {};
  for (const key of Object.keys(entry)) {
    const value = entry[key]!;
    switch (key) {
      case 'sb':
        if (typeof value !== 'string') refuse('ERR_SCHEMA', 'superseded_by is not a string');
        if (!isAddress(value)) refuse(addressProblem(value)!, 'superseded_by is not an address');
        status.supersededBy = value;
        break;
      case 'svt':
        status.systemValidTo = wholeNumber(value, 'system_valid_to');
        break;
      case 'vstatus':
        if (typeof value !== 'string') refuse('ERR_SCHEMA', 'verification_status is not a string');
        if (!VERIFICATION_STATUSES.has(value)) refuse('ERR_RANGE', 'verification_status is not a known one');
        status.verificationStatus = value as VerificationStatus; // checked against the set above
        break;
      case 'ac':
        status.accessCount = wholeNumber(value, 'access_count');
        break;
      case 'laa':
        status.lastAccessedAt = wholeNumber(value, 'last_accessed_at');
        break;
      default:
        if (!warnings.includes(UNKNOWN_KEY)) warnings.push(UNKNOWN_KEY);
    }
  }
  return status;
}

const UNKNOWN_KEY = 'manifest has keys that are not known';

function wholeNumber(value: Value, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) refuse('ERR_SCHEMA', `${name} is not an integer`);
  if (value < 0) refuse('ERR_RANGE', `${name} is negative`);
  return value;
}

/** A status with full names, for display. */
export function statusFields(status: GrainStatus): ValueMap {
  const fields: ValueMap = {};
  const names = { sb: 'superseded_by', svt: 'system_valid_to', vstatus: 'verification_status' } as const;
  const local = { ac: 'access_count', laa: 'last_accessed_at' } as const;
  const map = shortStatus(status);
  for (const [short, name] of Object.entries({ ...names, ...local }))
    if (map[short] !== undefined) setOwn(fields, name, map[short]);
  return fields;
}
