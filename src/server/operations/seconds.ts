/** The seconds that answers show of a time in milliseconds. */
export function seconds(atMs: number): number {
  return Math.floor(atMs / 1000);
}
