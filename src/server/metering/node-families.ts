// The families of /metrics about the nodes of a store and the owners of its shards, as the leader sees them.
// Without nodes they have no values.
import type { Fleet } from '../../engine/log/postgres/fleet.ts';
import type { Family, Sample } from './family.ts';

/** The nodes as they were seen last, and how many milliseconds ago. */
export type SeenFleet = Fleet & { readonly ageMs: number };

export interface NodeSources {
  /** Undefined without nodes. */
  readonly fleet: () => SeenFleet | undefined;
  readonly leaseMs: number;
  /** Of the store, without the control log. */
  readonly shards: number;
  /** Of a node that does not run the server. */
  readonly copy?: { readonly isFresh: () => boolean; readonly passed: () => number } | undefined;
}

export function nodeFamilies({ fleet, leaseMs, shards, copy }: NodeSources): Family[] {
  const family = (name: string, help: string, read: (seen: SeenFleet) => readonly Sample[]): Family => ({
    ...{ name, help, type: 'gauge' },
    values: () => {
      const seen = fleet();
      return seen === undefined ? [] : read(seen);
    },
  });
  return [
    family('granary_node_up', 'Whether a node of the store was seen within a lease: 1 or 0.', ({ nodes, ageMs }) =>
      nodes.map(({ id, seenMs }) => ({ labels: { node: id }, value: seenMs + ageMs < leaseMs ? 1 : 0 })),
    ),
    family('granary_node_draining', 'Whether a node is draining: 1 or 0.', ({ nodes }) =>
      nodes.map(({ id, isDraining }) => ({ labels: { node: id }, value: isDraining ? 1 : 0 })),
    ),
    family('granary_node_shards', 'Shards whose lease a node holds.', (seen) =>
      seen.nodes.map(({ id }) => ({
        labels: { node: id },
        value: held(seen, shards).filter(({ owner }) => owner === id).length,
      })),
    ),
    family('granary_node_refused_shards', 'Shards that a node could not open; it tries them again.', ({ nodes }) =>
      nodes.map(({ id, refused }) => ({ labels: { node: id }, value: refused.length })),
    ),
    family(
      'granary_shard_lease_seconds',
      'Time until the lease of a shard ends unless its node renews it, in seconds.',
      (seen) =>
        held(seen, shards).map(({ shard, owner = '', leaseMs: restMs }) => ({
          labels: { node: owner, shard: String(shard) },
          value: Math.max(0, restMs - seen.ageMs) / 1_000,
        })),
    ),
    family('granary_unowned_shards', 'Shards whose lease no node holds.', (seen) => [
      { value: shards - held(seen, shards).length },
    ]),
    family('granary_control_copy_up', 'Whether this node answers by its copy of the control log: 1 or 0.', () =>
      copy === undefined ? [] : [{ value: copy.isFresh() ? 1 : 0 }],
    ),
    {
      name: 'granary_requests_passed_total',
      help: 'Requests that this node passed on to the leader.',
      type: 'counter',
      values: () => (copy === undefined ? [] : [{ value: copy.passed() }]),
    },
  ];
}

function held({ shards, ageMs }: SeenFleet, count: number) {
  return shards.filter(({ shard, owner, leaseMs }) => shard < count && owner !== undefined && leaseMs > ageMs);
}
