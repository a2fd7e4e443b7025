// The first step of a write, pure: what a caller sent becomes a blob, its address, and what the indexes keep of it.
// Nothing here reads the store, so a worker prepares the next group while the last one is being committed.
import { keyedIdentity } from '../crypto/blind-tokens.ts';
import { EngineError } from '../errors.ts';
import type { JsonObject } from '../calls.ts';
import { addressOf } from '../grain/address.ts';
import { fromApi } from '../grain/api-input.ts';
import { searchText, sessionOf, triple } from '../grain/api-text.ts';
import { decodeGrain, encodeGrain, identityBytes } from '../grain/blob.ts';
import { GrainError, importErrorCode } from '../grain/errors.ts';
import type { Address, Grain } from '../grain/grain.ts';
import type { ValueMap } from '../grain/value.ts';
import type { IndexedGrain, NumberField } from '../index/part.ts';
import { GRAIN_RECORD_OVERHEAD, type VerificationState } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';

export interface PreparedGrain {
  readonly blob: Buffer;
  readonly address: Address;
  readonly grain: Pick<Grain, 'type' | 'typeString' | 'fields'>;
  readonly userId: string | undefined;
  readonly verification: VerificationState;
  readonly warnings: readonly string[];
  readonly indexed: Omit<IndexedGrain, 'ordinal'>;
}

/** A grain from the API's fields. Every refusal is an EngineError with a code of the contract. */
export function prepareGrain(memory: Memory, grainType: string, fields: JsonObject, nowMs: number): PreparedGrain {
  const api = fromApi(grainType, fields, { nowMs });
  let encoded: ReturnType<typeof encodeGrain>;
  try {
    encoded = encodeGrain(api.type, api.fields, api.sensitivity === undefined ? {} : { sensitivity: api.sensitivity });
  } catch (error) {
    if (!(error instanceof GrainError)) throw error;
    if (error.code === 'ERR_TOO_LARGE') throw new EngineError('LIM-E003', `grain is larger than a grain may be (${error.message})`);
    throw new EngineError('FMT-E002', error.message);
  }
  return assemble(
    memory,
    { type: api.type, typeString: api.type, fields: api.fields },
    encoded,
    // fromApi has checked that it is one of the states.
    (api.verificationStatus ?? '') as VerificationState,
    [...api.warnings, ...encoded.warnings],
  );
}

/** A grain from a blob made elsewhere: strictly decoded, kept byte for byte. FMT-E001, FMT-E003. */
export function prepareBlob(memory: Memory, blob: Buffer, expected: string | undefined): PreparedGrain {
  try {
    const grain = decodeGrain(blob, { verifyReencode: true, ...(expected === undefined ? {} : { expectedAddress: expected }) });
    return assemble(memory, grain, { blob, address: addressOf(blob) }, '', []);
  } catch (error) {
    if (!(error instanceof GrainError)) throw error;
    throw new EngineError(importErrorCode(error.code), `${error.code}: ${error.message}`);
  }
}

function assemble(
  memory: Memory,
  grain: PreparedGrain['grain'],
  encoded: { readonly blob: Buffer; readonly address: Address },
  verification: VerificationState,
  warnings: readonly string[],
): PreparedGrain {
  const { fields } = grain;
  const spo = triple(grain);
  const identity = identityBytes(encoded.blob);
  const userId = text(fields['user_id']);
  return {
    blob: encoded.blob,
    address: encoded.address,
    grain,
    userId,
    verification,
    warnings,
    indexed: {
      address: encoded.address,
      identity: identity === undefined ? undefined : keyedIdentity(memory.identityKey, identity),
      createdAtMs: Number(fields['created_at']),
      type: grain.type,
      namespace: text(fields['namespace']) ?? '',
      user: userId,
      session: sessionOf(grain),
      tags: texts(fields['structural_tags']),
      subject: spo.subject,
      relation: spo.relation,
      object: spo.object,
      source: texts(fields['derived_from'])[0],
      numbers: numbers(fields),
      blobBytes: encoded.blob.length,
      recordBytes: encoded.blob.length + GRAIN_RECORD_OVERHEAD,
      terms: memory.analyzer.analyze(searchText(grain)),
    },
  };
}

const NUMBER_FIELDS: readonly (readonly [NumberField, string, number])[] = [
  ['confidence', 'confidence', 1],
  ['importance', 'importance', 1],
  ['validFromMs', 'valid_from', 1],
  ['validToMs', 'valid_to', 1],
  ['expiresAtMs', 'expires_at', 1000], // kept in seconds in the blob (it is an extra field there)
];

function numbers(fields: ValueMap): IndexedGrain['numbers'] {
  const found: Partial<Record<NumberField, number>> = {};
  for (const [field, name, scale] of NUMBER_FIELDS) {
    const value = fields[name];
    if (typeof value === 'number') found[field] = value * scale;
  }
  return found;
}

function text(value: ValueMap[string]): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function texts(value: ValueMap[string]): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
