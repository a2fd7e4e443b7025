// The first step of a write, pure: it turns the request into a blob, its address and its index entries. It does not
// read the store, so a worker can prepare the next group while the last one is being committed.

import type { KnownAgent } from '../govern/agents/agents.ts';
import { DEFAULT_PURPOSE } from '../govern/consent/consent.ts';
import { admitsAllPii, checkPii, type PiiNeeds } from '../govern/policy/pii-needs.ts';
import { checkToolDefinition, isToolDefinition } from '../govern/policy/tool-schema.ts';
import { addressOf } from '../grain/address.ts';
import { fromApi, grainTypeOf } from '../grain/api/input.ts';
import type { JsonObject } from '../grain/api/json-value.ts';
import { decodeGrain, encodeGrain } from '../grain/codec/blob.ts';
import { FLAG, HEADER_BYTES } from '../grain/codec/header.ts';
import { GrainError, refuse, toEngineError } from '../grain/error.ts';
import type { Address, Grain } from '../grain/grain.ts';
import type { PlainItem } from '../grain/plain/plain-item.ts';
import { isMap } from '../grain/rules/validate.ts';
import type { Value } from '../grain/value.ts';
import type { VerificationState } from '../record/record.ts';
import { indexedOf, type NewlyIndexed } from '../store/indexed.ts';
import type { Memory } from '../store/memory.ts';
import { checkConsentFields } from './consent-fields.ts';

export interface PreparedGrain {
  readonly blob: Buffer;
  readonly address: Address;
  readonly grain: Pick<Grain, 'type' | 'typeString' | 'fields'>;
  readonly userId: string | undefined;
  readonly verification: VerificationState;
  readonly warnings: readonly string[];
  /** The seal of the policy that it was prepared under. When the policy changes, it is prepared again. */
  readonly policySeal: string;
  /** The personal data that was found and counts under that policy. */
  readonly pii: PiiNeeds | undefined;
  /** Its ordinal is 0 until a group assigns one. */
  readonly indexed: NewlyIndexed;
  /** The agent that writes it; set when the write is allowed. */
  by: KnownAgent | undefined;
}

/**
 * Prepares a grain from the API's fields and treats its personal data by the memory's policy. Every refusal is an
 * EngineError with a code of the contract. `purpose`: the purpose of the write. `by`: the server itself states the fields, which may
 * then vouch for where a tool ran.
 */
export function prepareGrain(
  memory: Memory,
  grainType: string,
  given: JsonObject,
  nowMs: number,
  purpose: string = DEFAULT_PURPOSE,
  by?: 'server' | undefined,
): PreparedGrain {
  // Checked first: a grain cannot be built with a schema that is too deep.
  if (grainTypeOf(grainType) === 'action' && isToolDefinition(given)) checkToolDefinition(given);
  const api = fromApi(grainType, given, by === 'server' ? { nowMs, trusted: true } : { nowMs });
  if (api.type === 'consent') checkConsentFields(api.fields);
  const { rules, sealHash } = memory.governed.policy;
  const checked = admitsAllPii(rules) ? undefined : checkPii(rules, api, purpose);
  const fields = checked?.fields ?? api.fields;
  try {
    const encoded = encodeGrain(api.type, fields, { sensitivity: api.sensitivity });
    const { blob, address } = encoded;
    const grain = { type: api.type, typeString: api.type, fields };
    const indexed = checkedIndexed(memory, grain, blob, address);
    // Written out, because a copy of each grain's members is much of its garbage.
    return {
      blob,
      address,
      grain,
      userId: indexed.user,
      // fromApi has checked that it is a valid flag.
      verification: (api.verificationStatus ?? '') as VerificationState,
      warnings: joined(api.warnings, encoded.warnings, checked?.warnings ?? NO_WARNINGS),
      policySeal: sealHash,
      pii: checked?.needs,
      indexed,
      by: undefined,
    };
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'api');
    throw error;
  }
}

/** The same for a plain grain, in one pass. Undefined when the policy or its time asks for the general path. */
export function preparePlain(memory: Memory, item: PlainItem, nowMs: number): PreparedGrain | undefined {
  const { rules, sealHash } = memory.governed.policy;
  const made = admitsAllPii(rules) ? item.grain(nowMs) : undefined;
  if (made === undefined) return undefined;
  const { type, fields, blob } = made;
  const address = addressOf(blob);
  const grain = { type, typeString: type, fields };
  const indexed = indexedOf(memory, grain, blob, address);
  return {
    blob,
    address,
    grain,
    userId: indexed.user,
    verification: '',
    warnings: NO_WARNINGS,
    policySeal: sealHash,
    pii: undefined,
    indexed,
    by: undefined,
  };
}

/**
 * Prepares a blob from elsewhere: strictly decoded and kept byte for byte. Only when the policy redacts personal data
 * is it written again, with another address. It gets no tags. FMT-E001, FMT-E003.
 */
export function prepareBlob(
  memory: Memory,
  bytes: Uint8Array,
  expected?: string,
  purpose: string = DEFAULT_PURPOSE,
): PreparedGrain {
  try {
    const blob = Buffer.from(bytes);
    // Outside its envelope it would be a blob that no reader accepts.
    if (blob.length > HEADER_BYTES && (blob[1]! & FLAG.signed) !== 0)
      refuse('ERR_UNSUPPORTED', 'signed grains can be read, but not stored');
    const grain = decodeGrain(blob, {
      verifyReencode: true,
      expectedAddress: expected,
    });
    if (grain.type === 'consent') checkConsentFields(grain.fields);
    const { rules, sealHash } = memory.governed.policy;
    const { fields, needs, warnings: piiWarnings } = checkPii(rules, grain, purpose);
    const checked = { verification: '', policySeal: sealHash, pii: needs } as const;
    if (fields === grain.fields || rules['pii.write_action'] !== 'redact')
      return assemble(memory, { grain, blob, address: addressOf(blob), warnings: piiWarnings, ...checked });
    const encoded = encodeGrain(grain.type, fields);
    const warnings = ['personal data was redacted: the stored grain has another hash than the imported one'];
    return assemble(memory, { grain: { ...grain, fields }, ...encoded, ...checked, warnings });
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
}

/** The same for an import, whose texts obey the rule of the API: what follows relies on texts without U+0000. */
export function prepareImport(...given: Parameters<typeof prepareBlob>): PreparedGrain {
  const prepared = prepareBlob(...given);
  const { fields } = prepared.grain;
  const field = Object.keys(fields).find((name) => holdsNul(name) || holdsNul(fields[name]));
  if (field === undefined) return prepared;
  const place = holdsNul(field) ? 'the name of a field' : `\`${field}\``;
  throw toEngineError(new GrainError('ERR_RANGE', `${place} holds U+0000`), 'import');
}

function holdsNul(value: Value | undefined): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (Array.isArray(value)) return value.some(holdsNul);
  return isMap(value) && Object.keys(value).some((key) => key.includes('\0') || holdsNul(value[key]));
}

/** All warnings in order. Most grains have none. */
function joined(first: readonly string[], second: readonly string[], third: readonly string[]): readonly string[] {
  return first.length + second.length + third.length === 0 ? NO_WARNINGS : [...first, ...second, ...third];
}

const NO_WARNINGS: readonly string[] = [];

function assemble(memory: Memory, made: Omit<PreparedGrain, 'indexed' | 'userId' | 'by'>): PreparedGrain {
  const indexed = checkedIndexed(memory, made.grain, made.blob, made.address);
  return { ...made, userId: indexed.user, indexed, by: undefined };
}

function checkedIndexed(
  memory: Memory,
  grain: PreparedGrain['grain'],
  blob: Buffer,
  address: Address,
): PreparedGrain['indexed'] {
  if (grain.type === 'action' && isToolDefinition(grain.fields)) checkToolDefinition(grain.fields);
  return indexedOf(memory, grain, blob, address);
}
