/** A number as a value of the log's state. */
export function countValue(count: number): Uint8Array {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(Math.max(0, count));
  return value;
}
