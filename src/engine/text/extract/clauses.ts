// Splits a sentence into clauses that state a fact. Questions, conditions, wishes, hedges and reported speech are
// dropped. Everything uncertain is dropped: a missed fact can be stated again, a wrong one is believed.
import type { Sentence } from './sentences.ts';

export interface Clause {
  /** Begins with its subject; contractions written out. */
  readonly text: string;
  /** "In 2019, …": the words of a date in front. */
  readonly when: string | undefined;
  readonly negated: boolean;
  /** True when the sentence began with a greeting. */
  readonly greeted: boolean;
}

const QUESTION_STARTS =
  /^(do|does|did|is|are|am|was|were|can|could|would|should|has|had|have|what|what's|who|who's|whom|whose|where|where's|when|why|how|which|shall|may|might|isn't|aren't|don't|doesn't|didn't|wasn't|won't|wouldn't|can't|couldn't)\b/i;

/** A request that needs material: the text after it may be that material and not the writer's own statements. */
const REQUEST_STARTS =
  /^(please )?(for example|for instance|e\.g\.|write|rewrite|compose|draft|translate|summari[sz]e|paraphrase|proofread|correct|edit|generate|create|make|give|tell|explain|complete|finish|continue|read|imagine|pretend|act|role-?play|consider|say|repeat|print|output|let|let's|suppose|assume|picture|describe|analy[sz]e|classify|extract|convert)\b/i;

/** A match makes the whole unit uncertain, because its dependent parts may be in any of the clauses. */
const UNSURE_UNIT =
  /\b(if|unless|whether|wish|wishes|wished|imagine|imagining|pretend|pretends|pretending|pretended|suppose|supposing|supposedly|assume|assuming|hypothetically|theoretically|apparently|allegedly|reportedly|said|says|saying|told|tells|claim|claims|claimed|wrote|writes|according|heard|hears|mentioned|mentions|rumor|rumors|rumou?rs?|swears|insists|thinks|expects|believes|guesses|hopes|wants|dream|dreams|dreamt|when|whenever|as long as|in case|otherwise|depending|temporarily|for now|character|as a kid|as a child|by training|in (?:my|our|your|his|her|their|the|this|a) (?:novel|story|tale|book|film|movie|game|play|song|poem|series|show|campaign)|in theory|in my dreams|in a past life|until|till|(?:they|you|we|people|some|many|others) (?:think|believe|say|guess|assume))\b/i;
/** A match makes only its own clause uncertain. */
const UNSURE_CLAUSE =
  /\b(would|could|might|should|shall|must|ought|gonna|going to|about to|want|wanted|hope|hoped|hoping|plan|plans|planning|intend|intends|try|tries|trying|maybe|perhaps|probably|possibly|potentially|likely|presumably|seem|seems|seemed|supposed|think|thought|guess|believe|believed|doubt|suspect|wonder|wondering|consider|considering|feel|feels|felt|looks like|sounds like|as if|as though|like i|or|almost|nearly|practically|used to|formerly|previously|once|ex|former|say|tell|ask|asks|asked|hear|instead|sometimes|occasionally|ever|let|lets|role|anyone|nobody|everyone|everybody|somebody|someone)\b/i;
/** A doubt after a comma at the end of a statement. */
const DOUBT_AT_END =
  /,? (?:I (?:think|guess|suppose|believe|suspect|hope|assume|reckon)|maybe|perhaps|probably|possibly|presumably|or so|or something|not sure|I am not sure)\W*$/i;
/** These words are also names and months, so their case counts. */
const UNSURE_CASED = /\b(may|will)\b|'ll\b|'d\b/;
/** Retracts the whole sentence, wherever it occurs. */
const TAKEN_BACK =
  /\b(kidding|joking|joke|jokes|sarcasm|yeah,? right|as if|wrong|mistaken|lie|lying|just because|j\/k|jk|lol|not really)\b|\/s\b|[🙃🙄]/iu;

const NEGATION =
  /\b(not|never|no|neither|nor|hardly|barely|rarely|seldom|scarcely|without|none|nothing|cannot|longer|stopped|stop|quit|anymore|any more|least|less|few|little|refuse|refuses|avoid|fail|failed|lack|denies|deny|except|far from)\b/i;

const LEAD_INS =
  /^(?:(?:(?:hi|hello|hey|greetings|good (?:morning|evening|afternoon))(?: there| everyone| all| team| [A-Z][a-z]+)?\s*[,!.:-]\s*)|(?:hi|hello|hey)\s+(?=I |my |my )|(?:well|so|also|and|but|ok|okay|yes|yeah|yep|no|nope|oh|ah|actually|btw|by the way|fyi|just so you know|so you know|for the record|for your information|for context|for reference|in fact|as you know|thanks|thank you|thx|sure|right now|currently|these days|nowadays|at the moment|honestly|personally|to be honest|tbh|in general|generally|reminder|update|note|p\.?s\.?|anyway|besides|plus|additionally|furthermore|moreover|oh and|one more thing|of course|fun fact|important)\s*[,:!-]\s*|(?:please )?(?:remember|note|keep in mind|don't forget|be aware|know)(?: that\s+|\s*:\s*|\s+(?=I\b|my\b))|(?:and|but|so|also|actually|currently)\s+(?=I |my ))/i;

/** Separators of units. A doubt does not carry over to the next unit. */
const UNITS = /\s*;\s+|\s+[-–—]+\s+|\s*—\s*|,?\s+but\s+|,\s+so\s+(?!that\b)|,\s+although\s+|,\s+though\s+/i;

/** Separates clauses of one unit when a new subject follows. */
const NEW_SUBJECT =
  /(?:\s*,)?\s+(?:and|because|since|while|whereas|as|plus)\s+(?=(?:I|my|we|he|she|it|they|you|our|his|her|their|this|there)\b)|,\s+(?=(?:I|my|he|she|it|they|we|you)(?:'s|\s))/i;
/** Separates clauses of one unit with the same subject. */
const SAME_SUBJECT =
  /(?:\s*,)?\s+and\s+(?=(?:(?:currently|really|also|now)\s+)?(?:lives? in|works? (?:at|for|as|in)|loves?|likes?|hates?|enjoys?|prefers?|owns?|speaks?|am|is|have|has|plays?|drives?|stud(?:y|ies)|moved to)\s)/;

const WHEN =
  /^((?:in|on|since|as of|back in) (?=[^,]{0,30}\d)[^,]{2,30}?|last (?:year|month|week|spring|summer|autumn|fall|winter)|\w+ (?:years?|months?|weeks?|days?) ago),? (?=(?:I|my|My|\p{Lu}\p{L}+)\s)/iu;

/** True for "Just kidding": the previous sentence was not meant. */
export function takesBack({ text }: Sentence): boolean {
  return (
    text.length <= 40 &&
    /^(?:(?:haha|ha|no|nah|ok|just|i'm|only|not) ?,? ?)*(?:kidding|joking|jk|j\/k|lol|not really|not)\b|^\/s$/i.test(
      text,
    )
  );
}

/** True when the text after this request may be its material and not the writer's own words. */
export function bringsMaterial(sentence: Sentence): boolean {
  return REQUEST_STARTS.test(sentence.text) && (sentence.text.includes(':') || sentence.label !== undefined);
}

/** A question after a comma at the end of a statement: "I prefer tea, can you find some". */
const QUESTION_TAIL =
  /(?:,| -)\s+(?:(?:and|but|so|or|then|also|now|you know)\s+)*(?:can|could|would|will|do|does|did|is|are|am|was|should|shall|how|what|what's|where|why|who|any|have|has|isn't|aren't|don't|doesn't)\s.*$/i;
/** A shorter question asks whether the statement itself is true. */
const QUESTION_TAIL_WORDS_MIN = 5;

/** The plain statements of a sentence, in order. */
export function* clausesOf(sentence: Sentence): Generator<Clause, void, void> {
  if (sentence.quoted || sentence.mark.includes('…')) return;
  const { text, greeted } = withoutLeadIns(sentence.text);
  if (QUESTION_STARTS.test(text) || REQUEST_STARTS.test(text) || TAKEN_BACK.test(text)) return;
  const tail = QUESTION_TAIL.exec(text);
  if (tail === null ? sentence.mark.includes('?') : tail[0].split(' ').length <= QUESTION_TAIL_WORDS_MIN) return;
  for (const unit of text.slice(0, tail?.index).split(UNITS)) {
    const written = writtenOut(unit.trim());
    if (UNSURE_UNIT.test(written) || DOUBT_AT_END.test(written)) continue;
    const when = WHEN.exec(written);
    const body = withoutLeadIns(when === null ? written : written.slice(when[0].length)).text;
    let first = true;
    for (const part of body.split(NEW_SUBJECT)) {
      const sure = !UNSURE_CLAUSE.test(part) && !UNSURE_CASED.test(part);
      if (sure) {
        for (const clause of sameSubject(part)) {
          yield { text: clause, when: first ? when?.[1] : undefined, negated: NEGATION.test(clause), greeted };
        }
      }
      first = false;
    }
  }
}

function withoutLeadIns(text: string): { readonly text: string; readonly greeted: boolean } {
  let greeted = false;
  for (let i = 0; i < 4; i++) {
    const match = LEAD_INS.exec(text);
    if (match === null) break;
    greeted ||= /^(hi|hello|hey|greetings|good)\b/i.test(match[0]);
    text = text.slice(match[0].length);
  }
  return { text, greeted };
}

/**
 * Splits "I live in Kyoto and love ramen" into two clauses of one subject. After a denial it does not split, because
 * the denial may cover both parts.
 */
function sameSubject(clause: string): string[] {
  // "in Paris, not Lyon" denies only Lyon.
  const [first = '', ...others] = clause.replace(/, not (?:in |at )?\p{Lu}\p{L}+$/u, '').split(SAME_SUBJECT);
  if (others.length === 0 || NEGATION.test(first)) return [first];
  // "my wife works and likes …": the end of a longer subject is not certain enough.
  const subject = /^(?:I|(?:\p{Lu}[\p{L}'-]+ ){1,3}(?=\p{Ll}))/u.exec(first)?.[0].trim();
  return subject === undefined ? [first] : [first, ...others.map((rest) => `${subject} ${rest}`)];
}

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bI'm\b/gi, 'I am'],
  [/\b(I|we|they|you)'ve\b/gi, '$1 have'],
  [/\bcan't\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/\b(do|does|did|is|are|was|were|have|has|had|would|could|should)n't\b/gi, '$1 not'],
  [/\bname's (?=\p{Lu})/gu, 'name is '],
  [/\bdont\b/gi, 'do not'],
  [/\bim\b/g, 'I am'],
  [/^i\b/, 'I'],
  [/\b(and|but|so) i\b/g, '$1 I'],
];

function writtenOut(text: string): string {
  for (const [short, long] of CONTRACTIONS) text = text.replace(short, long);
  return text;
}
