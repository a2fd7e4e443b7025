// The decoded value model of a grain (spec: canonical MessagePack with JSON's types, 64-bit integers and floats).

/**
 * A float64 that must stay a float although its value is integral, in a position where the field table does not
 * already say "float". The decoder makes one when it meets `cb` with an integral value in a free position; plain
 * JavaScript numbers elsewhere encode as integer when safe, else as float64.
 */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

export type Value = null | boolean | string | number | bigint | Float | Uint8Array | Value[] | ValueMap;

/**
 * A map of a grain. Own enumerable keys only; a key named `__proto__` is an own property like any other
 * (readers use `Object.keys` and `Object.hasOwn`, writers `setOwn`). `undefined` counts as absent.
 */
export interface ValueMap {
  [key: string]: Value | undefined;
}

/** Sets an own property even when the key is `__proto__`. */
export function setOwn(map: ValueMap, key: string, value: Value): void {
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}
