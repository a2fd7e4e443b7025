// A grain as the rest of the engine sees it, and the types that its address and header have.
import type { ValueMap } from './value.ts';

/** The ten grain types by the names the service speaks; the position is not the type byte (see registry.ts). */
export const GRAIN_TYPE_NAMES = [
  'belief',
  'event',
  'state',
  'workflow',
  'action',
  'observation',
  'goal',
  'reasoning',
  'consensus',
  'consent',
] as const;
export type GrainType = (typeof GRAIN_TYPE_NAMES)[number];

declare const addressBrand: unique symbol;
/**
 * Content address: SHA-256 of the plaintext blob, as 64 lowercase hex characters. Kept as hex inside too:
 * `crypto.hash(..., 'hex')` costs half of what a Buffer does, and it is a Map key as it is.
 */
export type Address = string & { readonly [addressBrand]: true };

/** Sensitivity of the header's bits 6-7: 0 public, 1 internal, 2 pii, 3 phi. */
export type Sensitivity = 0 | 1 | 2 | 3;

export interface Header {
  readonly version: number;
  readonly flags: number;
  readonly typeByte: number;
  /** First two bytes of SHA-256(namespace), as a number; 0 without namespace. */
  readonly namespaceHash: number;
  readonly createdAtSeconds: number;
}

/** A decoded grain: full field names, times in epoch milliseconds, exactly what the blob holds. */
export interface Grain {
  readonly type: GrainType;
  /** The type string as the blob has it (`fact` and `tool` are kept, spec R2). */
  readonly typeString: string;
  /** All fields but `type`, by full name. */
  readonly fields: ValueMap;
  readonly header: Header;
}

export interface EncodedGrain {
  readonly blob: Buffer;
  readonly address: Address;
}
