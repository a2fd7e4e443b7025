// Half floats (IEEE 754 binary16: sign, 5 bits of exponent, 10 of mantissa), in which vectors are stored.
// Values below 2^-14 become zero, because the kernel must not meet subnormals. For a unit vector of 512 dimensions this
// changes a cosine by less than the rounding of its other components.

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/**
 * Writes `values` as half floats into `into` at `at`, rounded to nearest, ties to even. Values lie between -2 and 2.
 */
export function writeHalves(values: Float32Array, into: Uint16Array, at: number): void {
  for (let i = 0; i < values.length; i++) {
    single[0] = values[i]!;
    const word = bits[0]!;
    const magnitude = word & 0x7fff_ffff;
    // Exponent 113 of a single is 1 of a half. The addition rounds and may carry into the exponent, as intended.
    const half = magnitude < 0x3880_0000 ? 0 : (magnitude - 0x3800_0000 + 0xfff + ((magnitude >>> 13) & 1)) >>> 13;
    into[at + i] = ((word >>> 16) & 0x8000) | half;
  }
}

/** Fills `into` with the values of the half floats at `at`. */
export function readHalves(halves: Uint16Array, at: number, into: Float32Array): void {
  for (let i = 0; i < into.length; i++) {
    const half = halves[at + i]!;
    const magnitude = half & 0x7fff;
    bits[0] = ((half & 0x8000) << 16) | (magnitude === 0 ? 0 : (magnitude << 13) + 0x3800_0000);
    into[i] = single[0]!;
  }
}
