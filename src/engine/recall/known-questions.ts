// The questions that the searches of one query ask: the sources of a context mostly ask the same one. Nothing may change
// in the memory while an object of this class is used, so it serves one synchronous call.
import type { TextQuery } from '../index/text/query.ts';
import type { TextStatistics } from '../index/text/search.ts';

export class KnownQuestions {
  readonly #parsed = new Map<string, TextQuery>();
  readonly #statistics = new Map<TextQuery, TextStatistics>();

  /** The question that `key` names, with all that its meaning depends on. */
  parsed(key: string, parse: () => TextQuery): TextQuery {
    return known(this.#parsed, key, parse);
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
