// Finds docs by a test on the text of a facet's values: substrings of names, and words of a field. Scans the values of
// a part, which are fewer and shorter than its grains. The result is exact, so a leg needs no candidates beyond its
// limit.

import { toNfc } from '../../base/nfc.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import { DocSet } from '../../index/docs/docset.ts';
import { ANY_RELATION, type IndexPart } from '../../index/parts/part.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import type { FieldCondition } from '../../index/text/query.ts';

export type NamedField = Parameters<IndexPart['docsByValue']>[0];

/** A test that some value of the facet must pass or, if `negated`, that no value may pass. */
export interface NameTest {
  readonly facet: NamedField;
  readonly negated: boolean;
  readonly matches: (value: string) => boolean;
}

/** Tests for a filter's substrings, ignoring case. */
export function containsTests({ subjectContains, objectContains }: GrainFilter): NameTest[] {
  const tests: NameTest[] = [];
  if (subjectContains !== undefined) tests.push(containing('subject', subjectContains));
  if (objectContains !== undefined) tests.push(containing('object', objectContains));
  return tests;
}

function containing(facet: NamedField, part: string): NameTest {
  const wanted = folded(part);
  return { facet, negated: false, matches: (value) => folded(value).includes(wanted) };
}

function folded(text: string): string {
  return toNfc(text).toLowerCase();
}

/**
 * The test for `field:term` (service contract 8.8): the term's words occur in the field in the same order. A term
 * without words (a stop word, punctuation) is compared as a whole.
 */
export function fieldTest(condition: FieldCondition, analyzer: Analyzer): NameTest | undefined {
  const { field, value, terms, negated } = condition;
  if (field === 'content') return undefined;
  if (terms.length === 0) {
    const wanted = folded(value).trim();
    return { facet: field, negated, matches: (text) => folded(text).trim() === wanted };
  }
  const wanted = analyzer.analyze(value).positions;
  const offsets = wanted.map((position) => position - wanted[0]!);
  return {
    facet: field,
    negated,
    matches: (text) => {
      const { terms: found, positions } = analyzer.analyze(text);
      return found.some((term, at) => term === terms[0] && follows(found, positions, at));
    },
  };

  function follows(found: readonly string[], positions: readonly number[], at: number): boolean {
    let next = at;
    for (let i = 1; i < terms.length; i++) {
      const position = positions[at]! + offsets[i]!;
      while (next < found.length && positions[next]! < position) next++;
      if (found[next] !== terms[i] || positions[next] !== position) return false;
    }
    return true;
  }
}

/** Docs of a part with a value that the test accepts. */
export function namedDocs(part: IndexPart, { facet, matches }: NameTest): DocSet {
  const docs = new DocSet(part.docCount);
  for (const [value, list] of part.docsByValue(facet))
    if (!(facet === 'relation' && value === ANY_RELATION) && matches(value)) docs.or(list());
  return docs;
}
