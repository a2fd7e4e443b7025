// Pronouns. They are terms of texts, and of questions that are answered by words alone. In a question that is ranked
// with vectors and context they are noise: half of a chat's turns contain `I` and `you`, and the first person has a
// turn flag of its own (spec: ranking of text, section 1).
import type { Analyzer } from './analyze.ts';

// Without those that become another word in lower case and after stemming: us (US), mine (mining).
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
