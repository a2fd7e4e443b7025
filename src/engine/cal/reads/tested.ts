// Answers a selection's tests from a partition's indexes where possible, without opening grains.

import type { Bounds, FieldTest, Selection } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { DocSet } from '../../index/docs/docset.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { CalGrain } from '../output/grain.ts';
import { passes } from '../run/field-test.ts';
import { contestedDocs } from './contested-docs.ts';
import { type Search, searchOf } from './places.ts';

/** The answer of a read that would have to compare too many grains. */
export const TOO_MANY = { scanned: 0, stopped: 'scan' } as const;

/**
 * The places of a selection's grains by index, and the tests that remain for opened grains. Undefined if tests on
 * `contradicted` would have to compare more grains than allowed.
 */
export function searchFor(
  store: Store,
  memory: Memory,
  context: CallContext,
  { filter, tests, contested, scanMax }: Selection & Bounds,
): { readonly search: Search; readonly tests: readonly FieldTest[] } | undefined {
  const search = searchOf(store, memory, context, filter);
  const asked = tests.filter((test) => 'field' in test && test.field === 'contradicted');
  // With several partitions, `contested` has the answer, and each grain is tested against it.
  if (asked.length === 0 || contested !== undefined) return { search, tests };
  const contestedIn = contestedDocs(search, scanMax);
  if (contestedIn === undefined) return undefined;
  return {
    search: withContradicted(search, asked, contestedIn),
    tests: tests.filter((test) => !asked.includes(test)),
  };
}

/** A grain that is not contested, and one that is. The tests read nothing else of them. */
const PLAIN: CalGrain = { hash: '', grainType: 'belief', createdAtMs: 0, namespace: '', score: 0, fields: {} };
const CONTESTED: CalGrain = { ...PLAIN, fields: { verification_status: 'contested' } };

function withContradicted(search: Search, tests: readonly FieldTest[], contested: readonly DocSet[]): Search {
  const { store, parts, filters } = search;
  const [yes, no] = [CONTESTED, PLAIN].map((grain) => tests.every((test) => passes(grain, test)));
  const said = store.index.verification.contested;
  return {
    ...search,
    isTested: true,
    filters: filters.map(({ docs, test }, i) => {
      const { ordinals } = parts[i]!;
      const speaks = contested[i]!;
      const lets = (doc: number): boolean => (speaks.has(doc) || said.get(ordinals[doc]!) ? yes === true : no === true);
      return { docs, test: (doc) => lets(doc) && test(doc) };
    }),
  };
}
