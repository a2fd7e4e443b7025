/**
 * Pairs of an HTTP listener and a number of partitions, for suites of one subject over HTTP: each listener and each number
 * is in one pair, as neither knows of the other. test/conformance/conformance.test.ts crosses them.
 */
export const LISTENER_PARTITIONS = [
  ['uws', 4],
  ['node', 1],
] as const;
