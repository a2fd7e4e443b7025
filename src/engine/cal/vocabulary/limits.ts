// Limits of a query. No query text can raise any of them.

export const CAL_LIMITS = {
  queryBytesMax: 8_192,
  limitDefault: 20,
  limitMax: 1_000,
  /** THREAD promises the whole conversation (D-21). */
  threadLimitDefault: 1_000,
  /** The outer query counts as 0. */
  subqueryDepthMax: 3,
  /** Nesting of set operations. */
  setDepthMax: 3,
  /** Nesting of brackets of any kind. */
  nestingMax: 8,
  stagesMax: 5,
  inValuesMax: 100,
  setOperandsMax: 5,
  parametersMax: 20,
  batchEntriesMax: 10,
  coalesceBranchesMin: 2,
  coalesceBranchesMax: 5,
  letsMax: 5,
  letChainMax: 3,
  sourcesMax: 8,
  budgetTokensMax: 16_000,
  budgetGrainsMax: 200,
  budgetTokensDefault: 4_000,
  /** In characters (code points), like the next three. */
  contextNameMax: 64,
  intentMax: 256,
  reasonMax: 500,
  templateNameMax: 64,
  formatsMax: 5,
  chunkSizeMin: 20,
  chunkSizeMax: 1_000,
  chunkSizeDefault: 100,
  queryTimeoutMs: 5_000,
  assembleTimeoutMs: 10_000,
  sourceTimeoutMs: 5_000,
  grainsScannedMax: 100_000,
  /** Grains that a LET or a set holds. No token budget has room for more. */
  grainsHeldMax: 16_000,
  historyVersionsMax: 100,
  addsPerMinute: 20,
  supersedesPerMinute: 10,
  revertsPerMinute: 5,
} as const;
