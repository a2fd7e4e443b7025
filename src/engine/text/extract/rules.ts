// Extracts facts by rules: each clause is split into its subject and its statement, and both must be certain.
import { defined } from '../../base/defined.ts';
import {
  EXTRACT_BELIEFS_MAX,
  EXTRACT_NAME_LOOKUPS_MAX,
  EXTRACT_SENTENCE_CHARS_MAX,
  EXTRACT_TEXT_CHARS_MAX,
} from '../../base/limits.ts';
import { bringsMaterial, type Clause, clausesOf, takesBack } from './clauses.ts';
import type { DateFinder } from './dates.ts';
import type { ExtractContext, ExtractedBelief, Extraction } from './extraction.ts';
import { type Lexicon, Names } from './names.ts';
import { personName, proper, standalone, tailOf } from './objects.ts';
import { NEGATIVE_PREDICATES, NO_KIND, PREDICATES, type Said } from './predicates.ts';
import { type Sentence, sentencesOf } from './sentences.ts';

export interface RuleTools {
  readonly lexicon: Lexicon;
  readonly dates: DateFinder;
}

/** Confidence of the rules, as service.md specifies for extraction. */
const CONFIDENCE = 0.9;

const KIN =
  'wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|sister|brother|son|daughter|uncle|aunt|cousin|nephew|niece|grandmother|grandfather|grandma|grandpa|grandson|granddaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|stepmother|stepfather|stepson|stepdaughter|best friend|friend|boss|manager|colleague|coworker|co-worker|roommate|flatmate|neighbou?r|landlord|landlady|doctor|dentist|therapist|teacher|mentor|coach|assistant';
const PETS = 'dog|cat|parrot|hamster|rabbit|horse|puppy|kitten|turtle|bird|pony';
const GROUPS = 'parents|grandparents|kids|children|in-laws';
const MODIFIER = '(?:(?:older|younger|elder|big|little|twin|eldest|oldest|youngest|middle) )?';

const NAME = "\\p{Lu}[\\p{L}-]*(?:'\\p{Lu}[\\p{L}-]*)?(?: \\p{Lu}[\\p{L}-]*(?:'\\p{Lu}[\\p{L}-]*)?){0,2}";

/** Labels of the user's lines in transcripts. */
const SELF_LABELS = /^(user|me|human|customer)$/i;
const REMARK_LABELS = /^(note|fyi|ps|p\.s\.|reminder|update|info|important|context|btw|background|about me|profile)$/i;

interface Subject {
  readonly name: string;
  /** True for subjects with whom patterns that need a person are tried. */
  readonly person: boolean;
  readonly self: boolean;
}

/** The facts that `text` states plainly. Linear in its length; pure except for the caches in `tools`. */
export function extractByRules(text: string, context: ExtractContext, tools: RuleTools): Extraction {
  const self = context.speaker ?? context.userId ?? 'user';
  const names = new Names(tools.lexicon);
  const beliefs = new Map<string, ExtractedBelief>();
  let speaker: string | undefined = self;
  let labelled = false;
  let latest: string[] = [];
  const leftOut = { long: 0 };
  for (const sentence of sentencesOf(text, leftOut)) {
    if (takesBack(sentence)) for (const key of latest) beliefs.delete(key);
    latest = [];
    if (sentence.label !== undefined && !REMARK_LABELS.test(sentence.label)) {
      speaker = speakerOf(sentence.label, self, names);
      labelled = true;
    } else if (labelled && sentence.opensParagraph) speaker = undefined; // The speaker of this paragraph is unknown.
    if (bringsMaterial(sentence)) break;
    if (speaker === undefined) continue;
    for (const clause of [undefined, ...clausesOf(sentence)]) {
      const facts = clause === undefined ? presupposed(sentence, speaker, names) : factsOf(clause, speaker, names);
      for (const belief of facts) {
        if (beliefs.size >= EXTRACT_BELIEFS_MAX) return extraction(true);
        const { subject, relation, object } = belief;
        const key = JSON.stringify([subject, relation, object.toLowerCase()]);
        if (beliefs.has(key)) continue;
        const found = belief.when === undefined ? undefined : tools.dates(belief.when, context.nowMs);
        latest.push(key);
        beliefs.set(
          key,
          defined({
            subject,
            relation,
            object,
            confidence: CONFIDENCE,
            validFromMs: found === undefined || found.ms > context.nowMs ? undefined : found.ms,
          }),
        );
      }
    }
  }
  return extraction(false);

  function extraction(isFull: boolean): Extraction {
    const left: string[] = [];
    if (isFull) left.push(`${EXTRACT_BELIEFS_MAX} facts were taken, the most of one text: what follows was not read`);
    if (text.length > EXTRACT_TEXT_CHARS_MAX)
      left.push(`only the first ${EXTRACT_TEXT_CHARS_MAX} characters were read`);
    if (leftOut.long > 0)
      left.push(`${leftOut.long} sentences of more than ${EXTRACT_SENTENCE_CHARS_MAX} characters were not read`);
    if (names.isFull) left.push(`of more than ${EXTRACT_NAME_LOOKUPS_MAX} names the later ones were not looked up`);
    return { beliefs: [...beliefs.values()], left };
  }
}

/**
 * The person who says "I" in a line with this label; undefined for a machine, or when the label may not be a person.
 */
function speakerOf(label: string, self: string, names: Names): string | undefined {
  if (SELF_LABELS.test(label) || label === self) return self;
  const name = personName(label);
  return name !== undefined && names.isPerson(name) ? name : undefined;
}

interface Fact extends Said {
  readonly subject: string;
  readonly when: string | undefined;
}

const KIN_NAMED = new RegExp(
  `\\b[Mm]y ${MODIFIER}(${KIN}|${PETS})(?:,? (?:named|called) | (?=\\p{Lu})|, (?=(?:${NAME}),))(${NAME})(?:'s\\b)?(?:,? (?:who|he|she)(?:'s| is) (\\d{1,3})(?=$|,| and| years old)|, (\\d{2})(?=,))?`,
  'gu',
);
/** A mother stays a mother after her death; a dog that died is no longer a pet. */
const LATE = /\b(?:died|dead|passed away|put down|put to sleep|ran away)\b/i;
const MADE_UP =
  /\b(imagine|suppose|pretend|story|novel|character|poem|song|example|sentence|fictional|hypothetical|if)\b/i;

/** "… with my partner James, who's 53": that James is the partner holds even in a question, a doubt or a denial. */
function* presupposed(sentence: Sentence, self: string, names: Names): Generator<Fact, void, void> {
  if (sentence.quoted || MADE_UP.test(sentence.text)) return;
  for (const [, kin, name, age, bareAge] of sentence.text.matchAll(KIN_NAMED)) {
    if (personName(name!) === undefined || !names.isPerson(name!)) continue;
    if (IS_PET.test(kin!) && LATE.test(sentence.text)) continue;
    yield { subject: self, relation: relationOf(kin!), object: name!, when: undefined };
    const years = age ?? bareAge;
    if (years !== undefined) yield { subject: name!, relation: 'age', object: years, when: undefined };
  }
}

function* factsOf(clause: Clause, self: string, names: Names): Generator<Fact, void, void> {
  const text = withoutAdverbs(clause.text);
  if (!clause.negated) {
    const direct = identities(text, self, names, clause.greeted);
    if (direct.length > 0) {
      for (const fact of direct) yield fact;
      return;
    }
  }
  const split = subjectOf(text, self, names);
  if (split === undefined) return;
  const { subject, introduced, predicate } = split;
  const tail = tailOf(predicate);
  const all: Said[] = [];
  for (const { pattern, read } of clause.negated ? NEGATIVE_PREDICATES : PREDICATES) {
    // A date is part of "was born in 1987"; in other facts it is a remark.
    const match = pattern.exec(tail.text) ?? pattern.exec(predicate);
    if (match === null) continue;
    const found = read(match[match.length - 1] ?? '', match, predicate);
    // "is based in" is said of people's homes and of companies.
    if (found.length > 0 && !found.some((one) => fits(one, subject))) continue;
    all.push(...found);
    break;
  }
  if (introduced !== undefined && !clause.negated) yield { ...introduced, when: undefined };
  for (const one of all) {
    if (!fits(one, subject)) continue;
    yield { ...one, subject: subject.name, when: DATED.test(tail.text) ? undefined : (tail.when ?? clause.when) };
  }
}

/** With two dates, it is unclear which fact each belongs to. */
const DATED = /\b(?:19|20)\d\d\b/;

/** Only people like, own and speak; "is the capital of" may be said of places. */
function fits({ relation }: Said, subject: Subject): boolean {
  if (subject.person) return relation !== 'located_in';
  return relation === 'located_in' || relation === 'is' || relation === 'is_a';
}

interface Split {
  readonly subject: Subject;
  /** "my wife Anna …" states who the wife is, whatever else the clause says. */
  readonly introduced: (Said & { readonly subject: string }) | undefined;
  readonly predicate: string;
}

const MY_KIN = new RegExp(`^[Mm]y ${MODIFIER}(${KIN}|${PETS}|${GROUPS})(?:,? (${NAME}),?)? (?=\\p{Ll})`, 'u');
const NAMES_KIN = new RegExp(`^(${NAME})'s? ${MODIFIER}(${KIN})(?:,? (${NAME}),?)? (?=\\p{Ll})`, 'u');
const NAMED = new RegExp(`^(${NAME}) (?=\\p{Ll})`, 'u');

function subjectOf(text: string, self: string, names: Names): Split | undefined {
  if (/^I /.test(text)) {
    return { subject: { name: self, person: true, self: true }, introduced: undefined, predicate: text.slice(2) };
  }
  const mine = MY_KIN.exec(text);
  if (mine !== null) return kinSplit(self, mine[1]!, mine[2], text.slice(mine[0].length), names);
  const theirs = NAMES_KIN.exec(text);
  if (theirs !== null) {
    if (!names.isPerson(theirs[1]!)) return undefined;
    return kinSplit(theirs[1]!, theirs[2]!, theirs[3], text.slice(theirs[0].length), names);
  }
  const named = NAMED.exec(text);
  if (named === null || personName(named[1]!) === undefined) return undefined;
  const name = named[1]!;
  const predicate = text.slice(named[0].length);
  if (names.isPerson(name)) return { subject: { name, person: true, self: false }, introduced: undefined, predicate };
  // The lexicon lacks companies, but only companies are "headquartered".
  if (names.isKnown(name) || /^is (?:based|located|headquartered) in \p{Lu}/u.test(predicate))
    return { subject: { name, person: false, self: false }, introduced: undefined, predicate };
  return undefined;
}

function kinSplit(
  owner: string,
  kin: string,
  name: string | undefined,
  predicate: string,
  names: Names,
): Split | undefined {
  const relation = relationOf(kin);
  if (name === undefined)
    return { subject: { name: `${owner}'s ${kin}`, person: true, self: false }, introduced: undefined, predicate };
  if (personName(name) === undefined) return undefined;
  if (IS_PET.test(kin) && LATE.test(predicate)) return undefined;
  names.introduce(name);
  return {
    subject: { name, person: true, self: false },
    introduced: { subject: owner, relation, object: name },
    predicate,
  };
}

function relationOf(words: string): string {
  return words
    .toLowerCase()
    .replace(/favourite/g, 'favorite')
    .replace(/neighbour/g, 'neighbor')
    .replace(/[\s-]+/g, '_');
}

const ADVERBS =
  'currently|now|still|really|absolutely|just|also|actually|always|usually|mostly|mainly|definitely|truly|strongly|generally|typically|originally|recently|totally|simply|deeply|personally|particularly|especially|quite|certainly|do(?= (?:like|love|prefer|enjoy|live|work|have))|both|proudly|happily|finally|presently|officially|permanently|very much|actively';
const ADVERBS_AFTER_SUBJECT = new RegExp(
  `^((?:I|[Mm]y (?:[\\p{L}-]+ ){1,3}?|(?:${NAME}))(?: (?:am|is|are|have|has|do not|does not|can not|am not|is not|was))?) (?:(?:${ADVERBS}) )+`,
  'u',
);

function withoutAdverbs(text: string): string {
  return text.replace(ADVERBS_AFTER_SUBJECT, (_all, head: string) => `${head} `).replace(/ {2,}/g, ' ');
}

const MY_KIN_IS = new RegExp(`^[Mm]y ${MODIFIER}(${KIN}|${PETS})(?:'s name)? is (?:called |named )?(${NAME})$`, 'u');
const MY_KINS_NAME = new RegExp(`^[Tt]he name of my ${MODIFIER}(${KIN}|${PETS}) is (${NAME})$`, 'u');
const NAMES_KIN_IS = new RegExp(
  `^(${NAME})'s? ${MODIFIER}(${KIN}|${PETS})(?:'s name)? is (?:called |named )?(${NAME})$`,
  'u',
);
const IS_MY_KIN = new RegExp(`^(${NAME}) is my ${MODIFIER}(${KIN}|${PETS})$`, 'u');
const IS_NAMES_KIN = new RegExp(`^(${NAME}) is (${NAME})'s? ${MODIFIER}(${KIN}|${PETS})$`, 'u');
/** Pets, whose names the lexicon lacks. */
const IS_PET = new RegExp(`^(?:${PETS})$`);
const MY_NAME_IS = new RegExp(
  `^(?:[Mm]y (?:full |first )?name is|I am called|[Pp]eople call me|[Pp]lease call me|[Cc]all me) (${NAME})$`,
  'u',
);
const I_AM = new RegExp(`^I am (${NAME})$`, 'u');
const MY_ATTRIBUTE =
  /^[Mm]y ((?:favou?rite|preferred) (?:\p{Ll}[\p{L}-]* ){0,2}\p{Ll}[\p{L}-]*|e-?mail(?: address)?|phone(?: number)?|(?:mobile|cell)(?: phone)? number|address|home address|birthday|date of birth|job title|job|occupation|profession|hometown|home town|nationality|native language|mother tongue|first language|time ?zone|zodiac sign|star sign|blood type|car|hobby|major|employer|company|pronouns|username|nickname|shoe size|religion) is (.+)$/u;

/** Clauses that identify somebody or something by a name or a value. */
function identities(text: string, self: string, names: Names, greeted: boolean): readonly Fact[] {
  const { text: whole } = tailOf(text);
  const fact = (subject: string, relation: string, object: string): readonly Fact[] => [
    { subject, relation: relationOf(relation), object, when: undefined },
  ];
  const own = MY_NAME_IS.exec(whole);
  if (own !== null) {
    const name = personName(own[1]!);
    return name === undefined ? [] : fact(self, 'name', name);
  }
  const am = I_AM.exec(whole);
  if (am !== null) {
    const name = personName(am[1]!);
    if (name !== undefined && (names.isPerson(name) || (greeted && !names.isKnown(name))))
      return fact(self, 'name', name);
    return [];
  }
  const mine = MY_KIN_IS.exec(whole) ?? MY_KINS_NAME.exec(whole);
  if (mine !== null) return personName(mine[2]!) === undefined ? [] : introduce(fact(self, mine[1]!, mine[2]!), names);
  const theirs = NAMES_KIN_IS.exec(whole);
  if (theirs !== null && names.isPerson(theirs[1]!) && personName(theirs[3]!) !== undefined)
    return introduce(fact(theirs[1]!, theirs[2]!, theirs[3]!), names);
  const isMine = IS_MY_KIN.exec(whole);
  const pet = isMine !== null && IS_PET.test(isMine[2]!);
  if (isMine !== null && personName(isMine[1]!) !== undefined && (pet || names.isPerson(isMine[1]!)))
    return fact(self, isMine[2]!, isMine[1]!);
  const isTheirs = IS_NAMES_KIN.exec(whole);
  if (isTheirs !== null && names.isPerson(isTheirs[1]!) && names.isPerson(isTheirs[2]!))
    return fact(isTheirs[2]!, isTheirs[3]!, isTheirs[1]!);
  const attribute = MY_ATTRIBUTE.exec(text);
  if (attribute === null) return [];
  const value = attributeValue(attribute[1]!, attribute[2]!);
  return value === undefined ? [] : fact(self, attribute[1]!, value);
}

function introduce(facts: readonly Fact[], names: Names): readonly Fact[] {
  for (const { object } of facts) names.introduce(object);
  return facts;
}

const PASSING_VALUE =
  /^(?:not|wrong|broken|late|old|new|dead|slow|missing|lost|coming|soon|tomorrow|today|next|in|on the|at|too|very|so|really|gone|full|over|being|the same|when|where|how|what|to|changing|getting|also|always|about|under|stuck|great|good|bad|fine|okay|ok|boring|stressful|hard|easy|awesome|amazing|terrible|horrible|nice|private|hidden|important|unknown|none|nothing|everything|all|any|still)\b/i;

/** The value of "my … is …". The shape of each attribute's value separates it from a remark ("my car is broken"). */
function attributeValue(attribute: string, rest: string): string | undefined {
  const given = attribute === 'birthday' ? rest.replace(/^on (?:the )?/, '') : rest;
  if (PASSING_VALUE.test(given) || (/^an? /.test(given) && NO_KIND.test(given))) return undefined;
  const { text } = attribute === 'birthday' || attribute === 'date of birth' ? { text: given } : tailOf(given);
  if (/mail/.test(attribute)) return /^[^\s@,;]{1,64}@[^\s@,;]{1,190}\.[a-z]{2,24}(?=$|[\s,;])/i.exec(text)?.[0];
  if (/phone|number/.test(attribute)) return /^\+?[\d\s().-]{5,24}$/.test(text) ? text : undefined;
  if (/address/.test(attribute)) return /\d/.test(text) && text.length <= 100 ? text : undefined;
  if (/^(?:birthday|date of birth)$/.test(attribute)) return /\d/.test(text) ? standalone(text, 5) : undefined;
  if (/^(?:favou?rite|preferred)/.test(attribute)) {
    if (/\b(?:part|thing|one|time|way)$/.test(attribute)) return undefined;
    return standalone(text.replace(/^an? /, ''), 6);
  }
  if (
    /^(?:hometown|home town|nationality|native language|mother tongue|first language|time ?zone|employer|company|zodiac sign|star sign|religion)$/.test(
      attribute,
    )
  )
    return proper(text);
  if (attribute === 'car')
    return /^an? /.test(text) || /^\p{Lu}/u.test(text) ? standalone(text.replace(/^an? /, ''), 5) : undefined;
  if (attribute === 'hobby') return /^\p{Ll}+ing\b/u.test(text) ? standalone(text, 4) : undefined;
  if (/^(?:job|job title|occupation|profession)$/.test(attribute)) {
    const role = standalone(text.replace(/^an? /, ''), 5);
    return role !== undefined && (/^an? /.test(text) || attribute !== 'job') ? role : undefined;
  }
  return standalone(text, 4);
}
