// The first step of a write, pure: what a caller sent becomes a blob, its address, and what the indexes keep of it.
// Nothing here reads the store, so a worker prepares the next group while the last one is being committed.
import type { JsonObject } from '../calls.ts';
import { addressOf } from '../grain/address.ts';
import { fromApi } from '../grain/api-input.ts';
import { decodeGrain, encodeGrain } from '../grain/blob.ts';
import { GrainError, toEngineError } from '../grain/error.ts';
import type { Address, Grain } from '../grain/grain.ts';
import type { VerificationState } from '../record/record.ts';
import { indexedOf, type NewlyIndexed } from '../store/indexed.ts';
import type { Memory } from '../store/memory.ts';

export interface PreparedGrain {
  readonly blob: Buffer;
  readonly address: Address;
  readonly grain: Pick<Grain, 'type' | 'typeString' | 'fields'>;
  readonly userId: string | undefined;
  readonly verification: VerificationState;
  readonly warnings: readonly string[];
  /** Its ordinal is 0 until a group has given it one. */
  readonly indexed: NewlyIndexed;
}

/** A grain from the API's fields. Every refusal is an EngineError with a code of the contract. */
export function prepareGrain(memory: Memory, grainType: string, fields: JsonObject, nowMs: number): PreparedGrain {
  const api = fromApi(grainType, fields, { nowMs });
  try {
    const encoded = encodeGrain(
      api.type,
      api.fields,
      api.sensitivity === undefined ? {} : { sensitivity: api.sensitivity },
    );
    const grain = { type: api.type, typeString: api.type, fields: api.fields };
    // fromApi has checked that it is one of the states.
    const verification = (api.verificationStatus ?? '') as VerificationState;
    return assemble(memory, grain, encoded.blob, encoded.address, verification, [...api.warnings, ...encoded.warnings]);
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'api');
    throw error;
  }
}

/** A grain from a blob made elsewhere: strictly decoded, kept byte for byte. FMT-E001, FMT-E003. */
export function prepareBlob(memory: Memory, bytes: Uint8Array, expected?: string): PreparedGrain {
  try {
    const blob = Buffer.from(bytes);
    const grain = decodeGrain(blob, {
      verifyReencode: true,
      ...(expected === undefined ? {} : { expectedAddress: expected }),
    });
    return assemble(memory, grain, blob, addressOf(blob), '', []);
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
}

function assemble(
  memory: Memory,
  grain: PreparedGrain['grain'],
  blob: Buffer,
  address: Address,
  verification: VerificationState,
  warnings: readonly string[],
): PreparedGrain {
  const indexed = indexedOf(memory, grain, blob, address);
  return { blob, address, grain, userId: indexed.user, verification, warnings, indexed };
}
