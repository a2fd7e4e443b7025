// Pronouns. They are terms of texts, and of questions that are answered by words alone; among the words of a question that is
// ranked with vectors and surroundings they are noise, as half the turns of a chat speak of `I` and `you`, and who
// speaks of himself has a term of its own there (spec: ranking of text, section 1).
import type { Analyzer } from './analyze.ts';

// Left out are those that are other words too once they are in small letters and stemmed: us (US), mine (mining).
const ENGLISH = `
i me my myself we our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
`;

const known = new WeakMap<Analyzer, ReadonlySet<string>>();
const NONE: ReadonlySet<string> = new Set();

/** The terms of a language's pronouns; none for languages but English. */
export function pronounsOf(analyzer: Analyzer): ReadonlySet<string> {
  if (!analyzer.name.startsWith('en/')) return NONE;
  let terms = known.get(analyzer);
  if (terms === undefined) {
    terms = new Set(analyzer.analyze(ENGLISH).terms);
    known.set(analyzer, terms);
  }
  return terms;
}
