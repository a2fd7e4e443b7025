// Who calls, where, and within which bounds.

/** Who asks, where, under which narrowing. Every call has one. */
export interface CallContext {
  /** Memory number. */
  readonly memory: number;
  /** Partition of it that this shard call is for, from 0. */
  readonly partition: number;
  /** Principal: the audit actor (`key:<key_id>`, `user:<name>`, `anonymous`, `system`). */
  readonly actor: string;
  readonly requestId: string;
  /** Bound or narrowed: the call sees and writes only this namespace / user. */
  readonly namespace?: string;
  readonly userId?: string;
  readonly reason?: string;
  readonly purpose?: string;
  /** Epoch ms after which nobody waits for the answer. */
  readonly deadlineMs?: number;
  readonly idempotency?: { readonly key: string; readonly bodyHash: string };
  /** Removals repeat what was done in the deployment that this one is a copy of: what its policy said then is not asked. */
  readonly repeats?: true;
  /** The caller wants a request refused for members that are not known, which would only be told else. */
  readonly strict?: true;
}
