// The operators of a question as wishes (service contract 8.8.1): "a phrase", +word, -word and field:term move a grain up
// or down, and none is a condition, because a question is prose. The factors depend on the grain and the question alone,
// so partitions need not agree on them.
import type { MetWishes } from '../../calls/recall.ts';
import type { DocSet } from '../../index/docs/docset.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import { matcherOf } from '../../index/text/clauses.ts';
import type { Wishes } from '../../index/text/query.ts';
import { fieldTest, namedDocs } from '../filter/named.ts';

/** A grain that meets all wished operators scores a quarter more; one that meets some of them, that share of it. */
export const WISHED_GAIN = 0.25;
/** A grain that an unwanted operator matches scores half. */
export const UNWANTED_FACTOR = 0.5;

/** Judges grains by the operators of a question. */
export class WishJudge {
  readonly #wishes: Wishes;
  readonly #parts: readonly IndexPart[];
  readonly #analyzer: Analyzer;
  readonly #tests: (readonly WishTest[] | undefined)[];

  constructor(wishes: Wishes, parts: readonly IndexPart[], analyzer: Analyzer) {
    this.#wishes = wishes;
    this.#parts = parts;
    this.#analyzer = analyzer;
    this.#tests = parts.map(() => undefined);
  }

  of(part: number, doc: Doc): MetWishes {
    let wished = 0;
    let met = 0;
    let isUnwanted = false;
    for (const { negated, matches } of this.#testsOf(part)) {
      const isMatch = matches(doc);
      if (negated) isUnwanted ||= isMatch;
      else {
        wished++;
        if (isMatch) met++;
      }
    }
    const gain = wished === 0 ? 0 : (WISHED_GAIN * met) / wished;
    return { factor: (1 + gain) * (isUnwanted ? UNWANTED_FACTOR : 1), isMet: met === wished && !isUnwanted };
  }

  #testsOf(part: number): readonly WishTest[] {
    this.#tests[part] ??= testsOf(this.#parts[part]!, this.#wishes, this.#analyzer);
    return this.#tests[part];
  }
}

interface WishTest {
  readonly negated: boolean;
  readonly matches: (doc: Doc) => boolean;
}

function testsOf(part: IndexPart, { clauses, fields }: Wishes, analyzer: Analyzer): WishTest[] {
  const ofWords = clauses.map((clause): WishTest => {
    const matcher = matcherOf(part.text, [{ ...clause, required: true }]);
    const matches = matcher === 'nothing' || matcher === undefined ? () => false : (doc: Doc) => matcher.matches(doc);
    return { negated: !clause.required, matches };
  });
  const ofFields = fields.flatMap((condition): WishTest[] => {
    const test = fieldTest(condition, analyzer);
    if (test === undefined) return [];
    let docs: DocSet | undefined;
    return [
      {
        negated: test.negated,
        matches: (doc) => {
          docs ??= namedDocs(part, test);
          return docs.has(doc);
        },
      },
    ];
  });
  return [...ofWords, ...ofFields];
}
