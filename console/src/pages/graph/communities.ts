// Finds groups of nodes that are mostly connected with one another.

/** Rounds in which nodes take the group of their neighbours. Groups hardly change after these. */
const ROUNDS = 8;
/** Steps of this many nodes, of a prime number, reach all nodes in an order that does not follow their numbers. */
const STRIDE = 7_919;

/**
 * The group of each node, numbered from 0. `ends` has the numbers of the source and the target of each edge, one after the other.
 * Label propagation (Raghavan, Albert and Kumara 2007): each node takes the group of most of its neighbours, several times over.
 * Of equally frequent groups a node keeps its own, or takes the one with the smallest number, so that a graph has the same groups
 * each time.
 */
export function communitiesOf(order: number, ends: Uint32Array): { readonly of: Uint32Array; readonly count: number } {
  const { starts, neighbours } = neighboursOf(order, ends);
  const labels = Uint32Array.from({ length: order }, (_, node) => node);
  const votes = new Uint32Array(order);
  const stride = order % STRIDE === 0 ? 1 : STRIDE;
  for (let round = 0, changed = order; round < ROUNDS && changed > 0; round++) {
    changed = 0;
    for (let step = 0, node = 0; step < order; step++, node = (node + stride) % order) {
      const from = starts[node]!;
      const to = starts[node + 1]!;
      for (let at = from; at < to; at++) votes[labels[neighbours[at]!]!]! += 1;
      let best = labels[node]!;
      for (let at = from; at < to; at++) {
        const label = labels[neighbours[at]!]!;
        const [more, most] = [votes[label]!, votes[best]!];
        if (more > most || (more === most && best !== labels[node] && label < best)) best = label;
      }
      for (let at = from; at < to; at++) votes[labels[neighbours[at]!]!] = 0;
      if (best === labels[node]) continue;
      labels[node] = best;
      changed += 1;
    }
  }
  return numbered(labels);
}

/** The neighbours of node n are `neighbours` from `starts[n]` to `starts[n + 1]`. */
function neighboursOf(order: number, ends: Uint32Array): { starts: Uint32Array; neighbours: Uint32Array } {
  const starts = new Uint32Array(order + 1);
  for (const node of ends) starts[node + 1]! += 1;
  for (let node = 0; node < order; node++) starts[node + 1]! += starts[node]!;
  const next = starts.slice();
  const neighbours = new Uint32Array(ends.length);
  for (let at = 0; at < ends.length; at += 2) {
    const [source, target] = [ends[at]!, ends[at + 1]!];
    neighbours[next[source]!++] = target;
    neighbours[next[target]!++] = source;
  }
  return { starts, neighbours };
}

function numbered(labels: Uint32Array): { of: Uint32Array; count: number } {
  const numbers = new Map<number, number>();
  const of = labels.map((label) => {
    const number = numbers.get(label) ?? numbers.size;
    numbers.set(label, number);
    return number;
  });
  return { of, count: numbers.size };
}
