// The questions that the searches of one query ask: the sources of a context mostly ask the same one. Nothing may change
// in the memory while an object of this class is used, so it serves one synchronous call.
import type { RecallQuery } from '../calls/recall.ts';
import type { Analyzer } from '../index/text/analyze.ts';
import { parseQuery, parseQuestion, type TextQuery } from '../index/text/query.ts';
import { unscoredTerms } from '../index/text/question-words.ts';
import type { TextStatistics } from '../index/text/search.ts';

type AskedAs = Pick<RecallQuery, 'wordsOnly' | 'operators'>;

export class KnownQuestions {
  readonly #parsed = new Map<string, TextQuery>();
  readonly #statistics = new Map<TextQuery, TextStatistics>();

  /** All questions that one object of this class parses are of one memory. */
  parsed(text: string, { wordsOnly = false, operators = false }: AskedAs, analyzer: Analyzer): TextQuery {
    return known(this.#parsed, `${wordsOnly} ${operators} ${text}`, () => {
      // Words of asking stay in a ranking by words only, where pronouns help more than they hurt, and in a query of only them.
      const unless = wordsOnly ? undefined : unscoredTerms(text, analyzer);
      return (operators ? parseQuery : parseQuestion)(text, analyzer, unless);
    });
  }

  /** The statistics of the question's words, over what the caller may see. */
  statistics(question: TextQuery, collect: () => TextStatistics): TextStatistics {
    return known(this.#statistics, question, collect);
  }
}

function known<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
