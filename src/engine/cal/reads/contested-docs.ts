// Finds the live beliefs of a partition that contradict each other, from index lists of their pairs, objects,
// namespaces and users. Opens a grain only if its object is in no list.
import { DocSet } from '../../index/docs/docset.ts';
import type { Facet, IndexPart } from '../../index/parts/part.ts';
import { facetToken } from '../../store/index-keys.ts';
import { objectOf } from '../run/contested.ts';
import { calGrain } from '../run/grain-of.ts';
import { type Search, searchOf, viewAt } from './places.ts';

/** A doc of any part: the base of its part plus the doc. */
type Place = number;

interface Beliefs extends Search {
  /** The base of each part: the number of docs in the parts before it. */
  readonly bases: readonly number[];
  readonly count: number;
}

/**
 * For each part the docs that a live belief visible to the caller contradicts. Undefined if more than `docsMax` docs
 * would have to be compared, because this work cannot be interrupted.
 */
export function contestedDocs(
  { store, memory, context }: Pick<Search, 'store' | 'memory' | 'context'>,
  docsMax: number,
): readonly DocSet[] | undefined {
  const search = searchOf(store, memory, context, { grainTypes: ['belief'] });
  if (search.filters.reduce((sum, { docs }, i) => sum + (docs?.length ?? search.parts[i]!.docCount), 0) > docsMax)
    return undefined;
  const bases: number[] = [];
  let count = 0;
  for (const { docCount } of search.parts) {
    bases.push(count);
    count += docCount;
  }
  const beliefs: Beliefs = { ...search, bases, count };
  const contested = search.parts.map(({ docCount }) => new DocSet(docCount));
  const pairs = sharedPairs(beliefs, live(beliefs));
  if (pairs.length === 0) return contested;
  const asked = new DocSet(count);
  for (const places of pairs) for (const place of places) asked.add(place);
  const objects = objectsOf(beliefs, asked);
  const owners = ownersOf(beliefs, asked);
  const mark = (place: Place): void => {
    const part = partOf(beliefs, place);
    contested[part]!.add(place - bases[part]!);
  };
  for (const places of pairs) {
    for (const stand of Map.groupBy(places, (place) => owners[place]!).values())
      if (stand.some((place) => objects[place] !== objects[stand[0]!])) for (const place of stand) mark(place);
  }
  return contested;
}

/** Docs that can take part in a contradiction: retracted ones cannot. */
function live({ store, parts, filters, bases, count }: Beliefs): DocSet {
  const { retracted } = store.index.verification;
  const set = new DocSet(count);
  for (const [at, { ordinals, docCount }] of parts.entries()) {
    const { docs, test } = filters[at]!;
    for (let i = 0, all = docs?.length ?? docCount; i < all; i++) {
      const doc = docs === undefined ? i : docs[i]!;
      if (test(doc) && !retracted.get(ordinals[doc]!)) set.add(bases[at]! + doc);
    }
  }
  return set;
}

/** Groups of live beliefs with the same subject and relation. */
function sharedPairs(beliefs: Beliefs, among: DocSet): readonly (readonly Place[])[] {
  const { parts, bases } = beliefs;
  const byPair = new Map<string, Place | Place[]>();
  const isAlone = parts.length === 1;
  for (const [at, part] of parts.entries()) {
    for (const { docs, token } of tokens(beliefs, part, 'pair', isAlone ? 2 : 1)) {
      for (let i = 0; i < docs.length; i++) {
        const place = bases[at]! + docs[i]!;
        if (!among.has(place)) continue;
        const key = token();
        const known = byPair.get(key);
        if (known === undefined) byPair.set(key, place);
        else if (typeof known === 'number') byPair.set(key, [known, place]);
        else known.push(place);
      }
    }
  }
  return [...byPair.values()].filter((places) => typeof places !== 'number');
}

interface TokenList {
  readonly docs: Uint32Array;
  /** Built on demand, because a tail stores texts. */
  readonly token: () => string;
}

/** The lists of a facet with `docsMin` docs or more. */
function* tokens({ memory }: Beliefs, part: IndexPart, facet: Facet, docsMin: number): IterableIterator<TokenList> {
  for (const list of part.facetLists(facet)) {
    const docs = list.docs();
    if (docs.length < docsMin) continue;
    let made: string | undefined;
    yield {
      docs,
      token: () => {
        made ??= 'token' in list ? list.token : facetToken(memory, facet, list.text);
        return made;
      },
    };
  }
}

/** For each doc the number of its facet value, by place; 0 if it has none. */
function valuesOf(beliefs: Beliefs, asked: DocSet, facet: Facet): { numbers: Uint32Array; known: Map<string, number> } {
  const numbers = new Uint32Array(beliefs.count);
  const known = new Map<string, number>();
  for (const [at, part] of beliefs.parts.entries()) {
    const base = beliefs.bases[at]!;
    for (const { docs, token } of tokens(beliefs, part, facet, 1)) {
      for (let i = 0; i < docs.length; i++) {
        const place = base + docs[i]!;
        if (asked.has(place)) numbers[place] = numberOf(known, token());
      }
    }
  }
  return { numbers, known };
}

function numberOf(known: Map<string, number>, token: string): number {
  const number = known.get(token) ?? known.size + 1;
  known.set(token, number);
  return number;
}

/** A number for each doc's object, equal for equal objects. */
function objectsOf(beliefs: Beliefs, asked: DocSet): Uint32Array {
  const { numbers, known } = valuesOf(beliefs, asked, 'object');
  const { parts, bases, memory } = beliefs;
  // Maps are in no list.
  for (const place of asked.toArray()) {
    if (numbers[place] !== 0) continue;
    const at = partOf(beliefs, place);
    const view = viewAt(beliefs, parts[at]!.ordinals[place - bases[at]!]!);
    const text = view === undefined ? '' : objectOf(calGrain(view, 1));
    numbers[place] = numberOf(known, facetToken(memory, 'object', text));
  }
  return numbers;
}

/** One number for each doc's namespace and user together. */
function ownersOf(beliefs: Beliefs, asked: DocSet): Float64Array {
  const { numbers: namespaces, known } = valuesOf(beliefs, asked, 'namespace');
  const { numbers: users } = valuesOf(beliefs, asked, 'user');
  const scale = known.size + 1;
  return Float64Array.from(namespaces, (namespace, place) => users[place]! * scale + namespace);
}

function partOf({ bases }: Beliefs, place: Place): number {
  let part = bases.length - 1;
  while (bases[part]! > place) part -= 1;
  return part;
}
