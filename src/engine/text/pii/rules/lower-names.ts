// Names of people in lower case: Irish names by their apostrophe, others after an introduction.
import { isFamily, isGiven } from '../known-names.ts';
import { AMBIGUOUS, folded } from '../name-lists.ts';
import { THING_WORDS } from '../not-names.ts';
import type { Scan } from '../scan.ts';

const IRISH = /(?<![\p{L}\p{M}\p{N}'’-])(?:(\p{Ll}{2,15}) )?o'\p{Ll}{4,20}(?![\p{L}\p{N}'-])/gu;
/** "o'clock" and other words with this beginning. */
const NO_NAME = /o'(?:clock|lantern|lanterns|shanter|groats|hare)$/;
const WORD = "\\p{Ll}[\\p{Ll}'-]{1,20}";
/** The name after an introduction. */
const NAME = new RegExp(`(?:: ?| )(${WORD})(?: (${WORD}))?(?: (${WORD}))?`, 'uy');
/** These phrases introduce many other things: only a name that is not also a word counts. */
const LOOSE = /^(?:call me|i'm|i am|this is|ich bin|je suis|soy)$/i;
const CALL_ME = /^call me$/i;

export function findLowerNames(scan: Scan): void {
  const { text } = scan;
  if (text.includes("o'"))
    for (const { 0: all, 1: given, index } of text.matchAll(IRISH)) {
      const next = /^ (\p{L}{2,20})/u.exec(text.slice(index + all.length, index + all.length + 24))?.[1];
      if (NO_NAME.test(all) || (next !== undefined && THING_WORDS.has(next.toLowerCase()))) continue;
      const from = given === undefined || isGiven(folded(given)) ? index : index + given.length + 1;
      scan.add('person_name', from, index + all.length, 0.75, 'dictionary');
    }
  for (const { from, to } of scan.cues('introduction')) findIntroduced(scan, text.slice(from, to), to);
  for (const { from, to } of scan.cues('phone'))
    if (CALL_ME.test(text.slice(from, to + 3))) findIntroduced(scan, 'call me', to + 3);
}

function findIntroduced(scan: Scan, cue: string, behind: number): void {
  NAME.lastIndex = behind;
  const match = NAME.exec(scan.text);
  if (match === null) return;
  const [all, ...found] = match;
  const words = found.filter((word): word is string => word !== undefined);
  const [first, second, third] = words.map((word) => folded(word));
  if (first === undefined || !isGiven(first) || first.length < 3) return;
  const named = second !== undefined && (isFamily(second) || (isGiven(second) && !AMBIGUOUS.has(second)));
  if (AMBIGUOUS.has(first) && (LOOSE.test(cue) ? !named : second !== undefined && !named)) return;
  const count = named ? (third !== undefined && isFamily(third) ? 3 : 2) : 1;
  const from = behind + all.indexOf(words[0]!);
  scan.add('person_name', from, from + words.slice(0, count).join(' ').length, 0.75, 'dictionary');
}
