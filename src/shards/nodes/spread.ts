// Which node is to own which shard: each node its share by weight, with as few moves as can be. Pure, so all nodes that see
// the same deployment come to the same plan.

export interface SpreadNode {
  readonly id: string;
  /** A whole number from 1. A node of weight 2 gets twice the shards of one of weight 1. */
  readonly weight: number;
  /** It gives its shards away, if another node can have them. */
  readonly isDraining: boolean;
  /** Shards that it could not open. Other nodes get them, if any can. */
  readonly refused?: readonly { readonly shard: number }[] | undefined;
}

/** A node's id, or undefined: no live node. By shard. */
export type Owners = readonly (string | undefined)[];

interface Taker {
  readonly id: string;
  /** Shards that it owns and keeps, in order. */
  readonly held: number[];
  quota: number;
}

/** The node that is to own each shard. `nodes` are the live ones; an owner that is not among them owns nothing any more. */
export function spread(nodes: readonly SpreadNode[], owners: Owners): Owners {
  const takers = takersOf(nodes, owners);
  // Without another node, a draining one keeps what it has.
  if (takers.length === 0) return owners.map((owner) => (nodes.some(({ id }) => id === owner) ? owner : undefined));
  const targets = new Array<string | undefined>(owners.length).fill(undefined);
  for (const { id, held, quota } of takers) for (const shard of held.slice(0, quota)) targets[shard] = id;
  const room = takers.flatMap(({ id, held, quota }) => Array.from({ length: quota - held.length }, () => id));
  return withoutRefused(
    targets.map((target) => target ?? room.shift()),
    nodes,
    owners,
  );
}

/** A shard whose node could not open it goes to one that may, the one with the fewest for its weight. Shares are then less even. */
function withoutRefused(targets: (string | undefined)[], nodes: readonly SpreadNode[], owners: Owners): Owners {
  const able = nodes.filter(({ isDraining }) => !isDraining).sort((a, b) => (a.id < b.id ? -1 : 1));
  const refuses = (id: string | undefined, shard: number): boolean =>
    able.some((node) => node.id === id && node.refused?.some((one) => one.shard === shard) === true);
  const load = ({ id, weight }: SpreadNode): number => targets.filter((target) => target === id).length / weight;
  for (const [shard, target] of targets.entries()) {
    if (!refuses(target, shard)) continue;
    const others = able.filter(({ id }) => !refuses(id, shard));
    const owner = others.find(({ id }) => id === owners[shard]);
    // When nobody can, the first one goes on to try.
    targets[shard] = (owner ?? others.sort((a, b) => load(a) - load(b))[0])?.id ?? target;
  }
  return targets;
}

/** The shard that `self` hands over next: one whose target is another node. Undefined without one. */
export function nextHandOver(targets: Owners, owners: Owners, self: string): number | undefined {
  const shard = owners.findIndex((owner, at) => owner === self && targets[at] !== self && targets[at] !== undefined);
  return shard === -1 ? undefined : shard;
}

/** The shards without an owner that `self` is to take. */
export function toTake(targets: Owners, owners: Owners, self: string): readonly number[] {
  return targets.flatMap((target, shard) => (target === self && owners[shard] === undefined ? [shard] : []));
}

/** In the order of their ids, with quotas that sum up to the number of shards. */
function takersOf(nodes: readonly SpreadNode[], owners: Owners): readonly Taker[] {
  const able = nodes.filter(({ isDraining }) => !isDraining).sort((a, b) => (a.id < b.id ? -1 : 1));
  const total = able.reduce((sum, { weight }) => sum + weight, 0);
  const shares = able.map(({ id, weight }) => {
    const held = owners.flatMap((owner, shard) => (owner === id ? [shard] : []));
    const quota = Math.floor((owners.length * weight) / total);
    return { taker: { id, held, quota }, rest: (owners.length * weight) % total };
  });
  let left = owners.length - shares.reduce((sum, { taker }) => sum + taker.quota, 0);
  // A node that holds one more than its share keeps it, which saves a move; then the largest rests count.
  const byNeed = shares
    .filter(({ rest }) => rest > 0)
    .map((share) => ({ ...share, isOver: share.taker.held.length > share.taker.quota }))
    .sort((a, b) => Number(b.isOver) - Number(a.isOver) || b.rest - a.rest);
  for (const { taker } of byNeed) if (left-- > 0) taker.quota += 1;
  return shares.map(({ taker }) => taker);
}
