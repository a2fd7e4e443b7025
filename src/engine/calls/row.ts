// One row for each shard call, with all properties that other parts look up by the call's name. A row that lacks a
// property does not compile, nor does a call without a row.

import type { GrainRelation, MemoryRelation } from '../govern/access/tuple.ts';

/**
 * How a shard answers a call. `read`: at once, from published state. `record`: at once, and leaves an entry for the
 * trail. `write`: joins a group, and is answered when it is durable and visible. `long`: runs in slices between groups.
 * `host`: the worker answers it itself, without an engine.
 */
export type Kind = CallRow['kind'];

/**
 * The data that a call changes. `grains` makes the memory's next statistics point due. `files` rewrites stored data
 * without a change of its content.
 */
type Changed = 'nothing' | 'grains' | 'memory' | 'rules' | 'keys' | 'trail' | 'idempotency' | 'files';

/**
 * The effect of a repeated call after an unknown outcome. `same`: idempotent. `again`: the call takes effect twice.
 * `keyed`: the call takes effect once under the request's Idempotency-Key, which it carries. `claimed`: idempotent, and
 * a key is nevertheless checked as with `keyed`. A call that changes nothing may always be repeated.
 *
 * Over several partitions the key of a keyed or claimed call is claimed before the call, because the same key with
 * another body could go to other partitions. A call that only checks (`check: true`) claims no key.
 */
type Retry = 'same' | 'again' | 'keyed' | 'claimed';

/**
 * The partition that audits a refusal. `first`: all partitions refuse alike, so only the first one audits it. `each`:
 * the partition that refuses.
 */
type Refusal = 'first' | 'each';

interface ReadRow {
  readonly kind: 'read';
  /** The trace of an answer: an audit `entry` if the policy audits reads, or the `record` of a recall. */
  readonly trail: 'nothing' | 'entry' | 'record';
  readonly refusal: Refusal;
}

interface RecordRow {
  readonly kind: 'record';
  readonly changes: 'trail';
  readonly retry: 'again';
}

interface WriteRow {
  readonly kind: 'write';
  /** `plan`: the call is one plan in the queue (write/plans.ts). `own`: it has a function in writes.ts. */
  readonly by: 'plan' | 'own';
  readonly changes: Changed;
  readonly retry: Retry;
}

type LongRow = { readonly kind: 'long' } & (
  | { readonly changes: 'nothing' }
  | { readonly changes: Exclude<Changed, 'nothing'>; readonly retry: Retry }
);

interface HostRow {
  readonly kind: 'host';
}

export type CallRow = ReadRow | RecordRow | WriteRow | LongRow | HostRow;

/**
 * How the policy applies to a call. `reads`: the call shows no hidden grain. `writes`: the call is refused while the
 * user's processing is restricted. `nothing`, `right`: why the policy does not apply.
 */
type Governed = 'reads' | 'writes' | { readonly nothing: string } | { readonly right: string };

/**
 * How the partitions of a memory answer a call. `first`: partition 0 answers. `home`: the partition that stores the
 * request's idempotency key. `holder`: all are asked, and the one with the grain answers. `each`: all run the call,
 * which has no output. `merged`: all answer and gather.ts merges the answers. `own`: a function in gather.ts. `never`:
 * the call addresses a single partition.
 */
type Gathered<O> = 'first' | 'home' | 'holder' | 'merged' | 'own' | 'never' | (keyof O extends never ? 'each' : never);

/**
 * A long read declares which partition audits its refusals, like other reads. A long call that only leaves out hidden
 * grains refuses nothing.
 */
type LongGoverned =
  | { readonly governed: 'reads'; readonly refusal: Refusal | 'none' }
  | { readonly governed: Exclude<Governed, 'reads'> };

/**
 * The relation that a caller needs where the policy has access tuples decide (`access.authz_required`).
 *
 * `viewer`: the call shows no grain of a namespace to which the caller lacks that relation. `editor`, `eraser`: it
 * changes or removes none. The call's own code sees to it by the same filters and decisions that the policy uses, and
 * test/governed-calls.test.ts asks each call for a foreign grain. `memory`: the call is refused before it runs, unless
 * the caller has one of the relations to the whole memory; with `orOwn`, unless the caller is a person who is bound to
 * itself, to whom the call shows nothing else. `open`: why no relation is needed.
 */
type Access =
  | GrainRelation
  | { readonly memory: readonly [MemoryRelation, ...MemoryRelation[]]; readonly orOwn?: true }
  | { readonly open: string };

type MemoryRow<O> = { readonly gather: Gathered<O>; readonly access: Access } & (
  | (ReadRow & { readonly governed: Exclude<Governed, 'writes'> })
  | (RecordRow & { readonly governed: Governed })
  | (WriteRow & { readonly governed: Exclude<Governed, 'reads'> })
  | (LongRow & LongGoverned)
);

/** Rows of calls on one memory. */
export type RowsOf<C> = {
  readonly [M in keyof C]: MemoryRow<C[M] extends { readonly output: infer O } ? O : never>;
};

/** Rows of calls on a shard as a whole: nothing gathers or governs them. */
export type ShardRowsOf<C> = { readonly [M in keyof C]: CallRow };
