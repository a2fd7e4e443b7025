// The edges of the graph that subjects, relations and objects span: each current grain with both ends is one.
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { EdgeView, GrainFilter } from '../calls/grain.ts';
import { triple } from '../grain/api/text.ts';
import { Float } from '../grain/value.ts';
import { union } from '../index/docs/docset.ts';
import { ANY_RELATION, type IndexPart } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { StoredGrain } from '../store/stored-grain.ts';
import { filterPart, type PartFilter, placeOf } from './filter/filter.ts';
import { inOrder } from './legs/ordered.ts';

const NOTHING = new Uint32Array(0);

type Input = MemoryCalls['edges']['input'];

/**
 * A page of the edges at some nodes, or at all: what the caller may see, newest first, ties by hash. Grains that cannot be read make no
 * edge.
 */
export function edges(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: Input,
): MemoryCalls['edges']['output'] {
  const parts = store.parts(memory.number);
  const filters = parts.map((part) => edgeFilter(store, part, context, input));
  // Read one more than requested to know whether there is another page.
  const places = inOrder(store, parts, filters, { limit: input.limit + 1, order: 'desc', after: input.after });
  const page = places.slice(0, input.limit);
  const found = page.flatMap(({ part, doc }) => {
    const stored = store.readShown(memory, parts[part]!.ordinals[doc]!);
    return stored === undefined ? [] : (edgeOf(stored, parts[part]!.createdAtMs[doc]!) ?? []);
  });
  const last = page.at(-1);
  return {
    edges: found,
    next: places.length > page.length && last !== undefined ? placeOf(store, parts[last.part]!, last.doc) : undefined,
  };
}

/** The docs that lie at one of the nodes, on the sides that the direction asks for. Without nodes, all with a triple. */
function edgeFilter(
  store: Store,
  part: IndexPart,
  context: CallContext,
  { nodes, relation, direction }: Input,
): PartFilter {
  if (nodes === undefined) return filterPart(store, part, { relation: relation ?? ANY_RELATION }, context);
  const at = (facet: 'subject' | 'object'): PartFilter => {
    const filter: GrainFilter = { relation, anyOf: [{ facet, values: nodes }] };
    return filterPart(store, part, filter, context);
  };
  if (direction === 'out') return at('subject');
  if (direction === 'in') return at('object');
  const [out, into] = [at('subject'), at('object')];
  const [from, to] = [out.docs ?? NOTHING, into.docs ?? NOTHING];
  // Where both have docs, their tests are the same. A filter without docs tests nothing.
  return { docs: union(from, to), test: from.length > 0 ? out.test : into.test };
}

/** Undefined for a grain without one of the ends. */
function edgeOf({ grain, address }: StoredGrain, createdAtMs: number): EdgeView | undefined {
  const { subject, relation = grain.type, object } = triple(grain);
  if (subject === undefined || object === undefined) return undefined;
  const { confidence } = grain.fields;
  return {
    hash: address,
    createdAtMs,
    source: subject,
    relation,
    target: object,
    confidence: confidence instanceof Float ? confidence.value : typeof confidence === 'number' ? confidence : 1,
  };
}
