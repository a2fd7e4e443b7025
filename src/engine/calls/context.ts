// The context of a call.

/** The caller, the target partition and the bounds of a call. Every call has one. */
export interface CallContext {
  /** Memory number. */
  readonly memory: number;
  /** Partition of the memory that this shard call is for, from 0. */
  readonly partition: number;
  /** Principal: the audit actor (`key:<key_id>`, `user:<name>`, `anonymous`, `system`). */
  readonly actor: string;
  /** The principal for whom the deployment asks a question of its own (`actor` is `system`). */
  readonly onBehalfOf?: string | undefined;
  /** The caller's key has scope admin: access tuples do not narrow it. */
  readonly owns?: true | undefined;
  /** The agent that the caller's token names, besides its principal. */
  readonly agentId?: string | undefined;
  readonly requestId: string;
  /** The binding or narrowing: the call sees and writes only this namespace or user. */
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly reason?: string | undefined;
  readonly purpose?: string | undefined;
  /** Deadline: a time of `steadyMs` (base/clock.ts). */
  readonly deadlineMs?: number | undefined;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string } | undefined;
  /**
   * Removals replay those of the original deployment, of which this one is a copy. They skip the policy check, which
   * the original made.
   */
  readonly repeats?: true | undefined;
  /** The request has a recorded span: shards note the times of its stages. */
  readonly traced?: true | undefined;
  /** Refuse a request with unknown members instead of only reporting them. */
  readonly strict?: true | undefined;
}
