/** Converts milliseconds to the whole seconds that answers show. */
export function seconds(atMs: number): number {
  return Math.floor(atMs / 1000);
}
