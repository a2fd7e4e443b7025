// How far an agent is trusted: the mean of a beta distribution over what its actions came to (service contract, 17).

/** Acts that change trust. The numbers are on disk: never use one again. */
export const TRUST_REASONS = { action_succeeded: 1, action_failed: 2, policy_refusal: 3 } as const;
export type TrustReason = keyof typeof TRUST_REASONS;

export interface TrustCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly refused: number;
}

export const NO_COUNTS: TrustCounts = { succeeded: 0, failed: 0, refused: 0 };

/** Between 0 and 1; 0.5 for an agent of which nothing is known. */
export function trustScore({ succeeded, failed, refused }: TrustCounts): number {
  const alpha = 1 + succeeded;
  const beta = 1 + failed + 2 * refused;
  return alpha / (alpha + beta);
}

export function counted(counts: TrustCounts, reason: TrustReason): TrustCounts {
  switch (reason) {
    case 'action_succeeded':
      return { ...counts, succeeded: counts.succeeded + 1 };
    case 'action_failed':
      return { ...counts, failed: counts.failed + 1 };
    default:
      return { ...counts, refused: counts.refused + 1 };
  }
}

/** A change of trust. */
export interface TrustChange {
  readonly atMs: number;
  readonly reason: TrustReason;
  /** The hash of the action, if it is there and may be shown. */
  readonly actionHash?: string | undefined;
}

/** A change with the score after it. */
export interface TrustPoint extends TrustChange {
  readonly score: number;
  /** The change of the score. */
  readonly delta: number;
}

/** The points of these changes, which are in the order of time and follow `before`. */
export function trustPoints(before: TrustCounts, changes: readonly TrustChange[]): TrustPoint[] {
  let counts = before;
  let last = trustScore(counts);
  return changes.map((change) => {
    counts = counted(counts, change.reason);
    const score = trustScore(counts);
    const point = { ...change, score, delta: score - last };
    last = score;
    return point;
  });
}
