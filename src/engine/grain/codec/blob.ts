// Encodes grains to blobs and decodes blobs strictly, with the checks in the format's order. Also opens blobs that this
// store wrote itself, with fewer checks.
import { addressOf, parseAddress, sameAddress } from '../address.ts';
import { refuse } from '../error.ts';
import type { EncodedGrain, Grain, Header, Sensitivity } from '../grain.ts';
import { CHECKS, note, raiseFindings, startFindings } from '../rules/findings.ts';
import { checkProfile, type Profile, type ProfileOptions, profileOf } from '../rules/profile.ts';
import { checkFields } from '../rules/validate.ts';
import { warningsOf } from '../rules/warnings.ts';
import { Float, type Value, type ValueMap } from '../value.ts';
import { openEnvelope, startsEnvelope } from './cose.ts';
import { type TypeSpec, typeByByte, typeByString, typeHolds } from './field-map.ts';
import { FLAG, HEADER_BYTES, namespaceHash, peek, referenceFlags, sensitivityOf, sensitivityOfTags } from './header.ts';
import { endOfValue, startOutput, takeOutput, writeHeaderBytes } from './msgpack.ts';
import { gatherDecoded, gatherFields, type Payload, readOpaquePayload, readPayload, writePayload } from './payload.ts';
import { endOfFrame, inflateFrame } from './zstd.ts';

export interface EncodeOptions extends ProfileOptions {
  /** Minimum sensitivity of the header; tags may raise it. Default 0. */
  readonly sensitivity?: Sensitivity | undefined;
  /** Sets the signed flag, for a blob in a signed envelope. The address covers the flag. Default false. */
  readonly signed?: boolean | undefined;
}

export interface EncodedWithWarnings extends EncodedGrain {
  /** Deviations from the format's advice, which are no errors. Contain field names and format terms, never values. */
  readonly warnings: string[];
}

/**
 * Encodes a grain. `type` is a type's name or its alias (kept as given); `fields` are full names with times in ms,
 * including created_at; null and undefined count as absent. Fills in no defaults. Throws GrainError:
 * ERR_UNKNOWN_TYPE, ERR_SCHEMA, ERR_EMPTY, ERR_RANGE, ERR_FLOAT_INVALID, ERR_CORRUPT (text, keys or nesting that have
 * no canonical form), ERR_HASH_LENGTH, ERR_HASH_FORMAT, ERR_TOO_LARGE. The caller owns the blob.
 */
export function encodeGrain(type: string, fields: ValueMap, options: EncodeOptions = {}): EncodedWithWarnings {
  const spec = typeByString(type);
  if (spec === undefined) refuse('ERR_UNKNOWN_TYPE');
  const profile = profileOf(options);
  startFindings();
  gatherFields(spec, type, fields);
  checkFields(spec, fields, true);
  checkProfile(profile, fields);
  raiseFindings();
  startOutput(profile.blobBytesMax);
  const level = Math.max(sensitivityOfTags(fields['structural_tags']), options.sensitivity ?? 0);
  const flags = (options.signed ? FLAG.signed : 0) | referenceFlags(fields) | (level << 6);
  const seconds = Math.floor(numberOf(fields['created_at']) / 1000);
  writeHeaderBytes(flags, spec.byte, namespaceHash(fields['namespace']), seconds);
  writePayload({ keepMinusZero: false, depthMax: profile.depthMax });
  const blob = takeOutput();
  return { blob, address: addressOf(blob), warnings: warningsOf(spec.type, fields) };
}

function numberOf(value: Value | undefined): number {
  return value instanceof Float ? value.value : Number(value);
}

export interface DecodeOptions extends ProfileOptions {
  /** Refuse a blob with another address (ERR_INTEGRITY). */
  readonly expectedAddress?: string | undefined;
  /** Re-encode the result and refuse a blob with different bytes (ERR_CORRUPT). */
  readonly verifyReencode?: boolean | undefined;
  /** Accept header bit 5 on MessagePack, because another engine uses it for its own purpose. */
  readonly engineFlags?: boolean | undefined;
  /** The blob came out of a verified envelope, so its signed flag must be set. */
  readonly enveloped?: boolean | undefined;
}

/** A grain of a type without a field table in this version: its map as stored, with short keys. */
export interface OpaqueGrain {
  readonly type: undefined;
  readonly typeString: string;
  readonly fields: ValueMap;
  readonly header: Header;
}

/**
 * Decodes a canonical blob, or throws GrainError with the code of the first check that fails. Opens and verifies a signed
 * envelope first (did:key signers). Throws ERR_UNKNOWN_TYPE for types without a field table; see `decodeAny`.
 */
export function decodeGrain(blob: Uint8Array, options: DecodeOptions = {}): Grain {
  const grain = decodeAny(blob, options);
  if (grain.type === undefined) refuse('ERR_UNKNOWN_TYPE');
  return grain;
}

/** `decodeGrain` that returns a grain of a reserved or application type as an opaque map. */
export function decodeAny(blob: Uint8Array, options: DecodeOptions = {}): Grain | OpaqueGrain {
  if (startsEnvelope(blob) && !options.enveloped)
    return decodeAny(openEnvelope(blob).blob, { ...options, enveloped: true });
  const profile = profileOf(options);
  const header = checkFrame(blob, profile, options);
  const spec = typeByByte(header.typeByte);
  startFindings();
  const payload = spec
    ? readPayload(blob, HEADER_BYTES, spec, { strict: true, depthMax: profile.depthMax })
    : readOpaquePayload(blob, HEADER_BYTES, { strict: true, depthMax: profile.depthMax });
  const { typeString, fields } = payload;
  if (typeString === undefined) note(CHECKS.noType, 'type', 'is missing');
  else if (typeof typeString !== 'string') note(CHECKS.typeMismatch, 'type', 'is not a string');
  if (header.typeByte === 0) note(CHECKS.unknownType, 'type', 'has no byte');
  if (spec) checkContents(spec, header, payload, profile);
  raiseFindings();
  if (options.expectedAddress !== undefined && !sameAddress(addressOf(blob), parseAddress(options.expectedAddress)))
    refuse('ERR_INTEGRITY', 'blob has another address');
  const text = typeString as string; // `raiseFindings` threw for anything else
  if (!spec) return { type: undefined, typeString: text, fields, header };
  if (options.verifyReencode) checkReencode(spec, text, fields, blob, profile);
  return { type: spec.type, typeString: text, fields, header };
}

/** Checks size, version and flags, and that the payload starts with a map, before the payload is read. */
function checkFrame(blob: Uint8Array, profile: Profile, options: DecodeOptions): Header {
  if (blob.length <= HEADER_BYTES) refuse('ERR_TOO_SHORT');
  if (blob.length > profile.blobBytesMax) refuse('ERR_TOO_LARGE');
  const header = peek(blob);
  const { flags } = header;
  if (((flags & FLAG.signed) !== 0) !== (options.enveloped === true)) refuse('ERR_SIGNED_MISMATCH');
  if ((flags & FLAG.encrypted) !== 0) refuse('ERR_ENCRYPTED');
  if ((flags & FLAG.compressed) !== 0) checkCompressed(blob, profile);
  const first = blob[HEADER_BYTES]!;
  const isMap = (first >= 0x80 && first < 0x90) || first === 0xde || first === 0xdf;
  if ((flags & FLAG.cbor) !== 0 && !(isMap && options.engineFlags))
    refuse(first >= 0xa0 && first < 0xc0 ? 'ERR_UNSUPPORTED' : 'ERR_CORRUPT', 'payload is not CBOR that is read here');
  if (!isMap) {
    const wellFormed = endOfValue(blob, HEADER_BYTES, blob.length, profile.depthMax) === blob.length;
    refuse(wellFormed ? 'ERR_NOT_MAP' : 'ERR_CORRUPT');
  }
  return header;
}

function checkCompressed(blob: Uint8Array, profile: Profile): never {
  if (endOfFrame(blob, HEADER_BYTES, blob.length) !== blob.length) refuse('ERR_CORRUPT', 'not one zstd frame');
  inflateFrame(blob.subarray(HEADER_BYTES), profile.blobBytesMax);
  return refuse('ERR_UNSUPPORTED', 'compressed payloads are not supported');
}

function checkContents(spec: TypeSpec, header: Header, payload: Payload, profile: Profile): void {
  const { typeString, fields } = payload;
  if (typeof typeString === 'string' && !typeHolds(spec, typeString))
    note(CHECKS.typeMismatch, 'type', 'does not belong to the type byte');
  checkFields(spec, fields, false);
  checkProfile(profile, fields);
  if (header.namespaceHash !== namespaceHash(fields['namespace']))
    note(CHECKS.header, 'header', 'has the namespace hash of a different namespace than the payload');
  if (header.createdAtSeconds !== Math.floor(numberOf(fields['created_at']) / 1000))
    note(CHECKS.header, 'header', 'has a different creation time than the payload');
  if ((header.flags & (FLAG.contentRefs | FLAG.embeddingRefs)) !== referenceFlags(fields))
    note(CHECKS.header, 'header', 'has reference flags that the payload does not have');
  if (sensitivityOf(header) < sensitivityOfTags(fields['structural_tags']))
    note(CHECKS.sensitivity, 'header', 'has a sensitivity below that of the tags');
}

function checkReencode(spec: TypeSpec, typeString: string, fields: ValueMap, blob: Uint8Array, profile: Profile): void {
  startOutput(profile.blobBytesMax);
  gatherDecoded(spec, typeString, fields);
  writePayload({ keepMinusZero: true, depthMax: profile.depthMax });
  if (takeOutput().compare(blob, HEADER_BYTES) !== 0) refuse('ERR_CORRUPT', 're-encodes to different bytes');
}

const STORED: { readonly strict: false; readonly depthMax: number } = {
  strict: false,
  depthMax: profileOf({}).depthMax,
};

/**
 * Opens a blob that this store encoded or strictly decoded before. Still checks bounds and nesting, so a damaged blob
 * causes a GrainError and no read outside its bytes. Skips the rules of canonical form and of the field table.
 */
export function openGrain(blob: Uint8Array): Grain {
  const header = peek(blob);
  const spec = typeByByte(header.typeByte);
  if (spec === undefined) refuse('ERR_UNKNOWN_TYPE');
  startFindings();
  const { typeString, fields } = readPayload(blob, HEADER_BYTES, spec, STORED);
  if (typeof typeString !== 'string') refuse('ERR_NO_TYPE');
  return { type: spec.type, typeString, fields, header };
}
