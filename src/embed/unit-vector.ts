/** A copy of `values` with L2 norm 1, in its own buffer; undefined when they are all zero or not finite. */
export function unitVector(values: ArrayLike<number>): Float32Array | undefined {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]! * values[i]!;
  const norm = Math.sqrt(sum);
  if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) return undefined;
  const unit = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) unit[i] = values[i]! / norm;
  return unit;
}
