// A grain as the rest of the engine sees it, and the types that its address and header have.
import { GRAIN_TYPES } from './types/table.ts';
import type { ValueMap } from './value.ts';

/** The grain types by the names that the service speaks: the keys of the table of types. */
export type GrainType = keyof typeof GRAIN_TYPES;

/** In the order of their type bytes. */
export const GRAIN_TYPE_NAMES = Object.keys(GRAIN_TYPES) as readonly GrainType[]; // The keys of the table, as written.

/** A table over all types. */
export function byType<T>(make: (type: GrainType) => T): Readonly<Record<GrainType, T>> {
  return Object.fromEntries(GRAIN_TYPE_NAMES.map((type) => [type, make(type)])) as Record<GrainType, T>; // All names.
}

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
