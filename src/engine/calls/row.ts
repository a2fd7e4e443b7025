// One row for each shard call: everything that other parts decide by the call's name. A row without one of its properties
// does not compile, nor does a call without a row.

/**
 * How a shard answers a call. `read`: at once, from published state. `record`: at once, and leaves an entry for the trail.
 * `write`: joins a group, answered when it is durable and visible. `long`: runs in slices beside the groups. `host`: the
 * worker answers it, no engine sees it.
 */
export type Kind = CallRow['kind'];

/** What a call leaves changed. `grains` makes the memory's next statistics point due; `files`: what is stored says the same as before. */
type Changed = 'nothing' | 'grains' | 'memory' | 'rules' | 'keys' | 'trail' | 'idempotency' | 'files';

/**
 * What sending a call again does when nobody knows whether it was done. `same`: the outcome is the same. `again`: it is done twice.
 * `keyed`: it is done once under the Idempotency-Key of the request, which goes along with the call. `claimed`: as `same`, and a key
 * that comes along all the same is checked as with `keyed`. What changes nothing may always be sent again.
 *
 * Over several partitions the key of a keyed or claimed call is claimed before the call: the same key with another body may go to
 * other partitions. A call that only checks (`check: true`) claims nothing.
 */
type Retry = 'same' | 'again' | 'keyed' | 'claimed';

/** Which partition notes a refusal in the trail. `first`: all refuse alike, so the first does. `each`: the one that refuses. */
type Refusal = 'first' | 'each';

interface ReadRow {
  readonly kind: 'read';
  /** What an answer leaves in the trail: an `entry` where the policy has reads audited, the `record` of a recall. */
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
 * What governs a call. `reads`: it shows nothing of a grain that is held back. `writes`: it is refused while the user's
 * processing is restricted. `nothing`, `right`: why the policy leaves it alone.
 */
type Governed = 'reads' | 'writes' | { readonly nothing: string } | { readonly right: string };

/**
 * How the partitions of a memory answer a call together. `first`: partition 0 does. `home`: the one that keeps the request's
 * idempotency key. `holder`: all are asked, the one that has the grain answers. `each`: all do it, and answer nothing. `merged`: all
 * answer, gather.ts merges the answers. `own`: a function in gather.ts. `never`: a call for one partition alone.
 */
type Gathered<O> = 'first' | 'home' | 'holder' | 'merged' | 'own' | 'never' | (keyof O extends never ? 'each' : never);

/** Long reads say who notes their refusals, as other reads do; a long call that only hides what is held back refuses nothing. */
type LongGoverned =
  | { readonly governed: 'reads'; readonly refusal: Refusal | 'none' }
  | { readonly governed: Exclude<Governed, 'reads'> };

type MemoryRow<O> = { readonly gather: Gathered<O> } & (
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
