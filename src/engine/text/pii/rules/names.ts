// Names of people: runs of capitalised words with evidence from a title, an introduction, a list of names or a model.
import { PII_NAME_LOOKUPS_MAX } from '../../../base/limits.ts';
import { FIGURES } from '../figures.ts';
import type { PiiSource } from '../finding.ts';
import { isFamily, isGiven } from '../known-names.ts';
import { AMBIGUOUS, folded } from '../name-lists.ts';
import { BRAND_NAMES, NOT_NAMES, THING_WORDS } from '../not-names.ts';
import type { Scan } from '../scan.ts';
import { findLowerNames } from './lower-names.ts';
import { findOtherScripts } from './other-scripts.ts';
import { isAlive, isMake, isPlaceHere, isPublicName, NAMED_AFTER } from './public-names.ts';

/** Judges a run of capitalised words that no list contains; pure. */
export type NameModel = (run: string) => boolean;

const PARTICLES =
  'de|del|della|da|do|dos|das|di|du|des|la|le|van|von|der|den|ten|ter|zu|bin|bint|ibn|al|el|y|e|af|av|ap';
const NAME = "(?:(?:\\p{Lu}\\.){1,3}|(?:[dlDLO]')?\\p{Lu}[\\p{L}\\p{M}']{0,30}(?:-[\\p{L}\\p{M}']{1,30}){0,3})";
const RUN = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_@#/.'-])${NAME}(?: (?:(?:${PARTICLES}) ){0,3}${NAME}){0,6}`, 'gu');
const TOKEN = /[^ ]+/g;
const TITLE =
  /(?:^|[\s(,"'])(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Professor|Doctor|Sir|Madam|Dame|Lady|Lord|Rev|Captain|Colonel|Sergeant|Officer|Judge|Nurse|Herr|Frau|Herrn|Señor|Señora|Señorita|Sr|Sra|Srta|Don|Doña|Monsieur|Madame|Mademoiselle|Mme|Mlle|Signor|Signora|Signore|Dott|Dhr|Mevrouw|Pani|Senhor|Senhora|Sheikh|Imam|Rabbi|[Гг]осподин|[Гг]оспожа|[Гг]осподину|[Гг]оспоже|[Гг]ражданин|[Гг]ражданка|[Пп]ан|[Пп]ані|[Κκ]ύριος|[Κκ]ύριο|[Κκ]υρία|[Κκ]υρίας|[Κκ]υρίου)\.? $/;
/** Words that nearly always precede a person's name. */
const INTRODUCED =
  /(?:\b(?:my name is|my name's|name (?:is|was)|named|i'm|i am called|call me|mi nombre es|me llamo|je m'appelle|ich heiße|ich bin|mi chiamo|meu nome é|je suis|mijn naam is|nazywam się|benim adım|adım|née|né|geb\.)|(?:меня зовут|мене звати|με λένε|ονομάζομαι)|\b(?:name|patient|customer|client|contact|employee|applicant|attendee|author|sender|recipient|attn|nombre|nom|nome|naam|signed|from|to|cc)\s?:|\b(?:dear|regards|sincerely|cheers|greetings|signed by|yours truly|yours|hola|liebe|lieber|chère|cher|querida|querido|signé)[,\n]?)\s{0,2}["']?$/i;
const RELATION =
  /\b(?:my|his|her|our|their|your|meine?|unsere?|the|ma|mon|mi|mia|mio|meu|minha|a)\s(?:(?:new|old|best|late|little|older|younger|twin|ex)\s)?(?:sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|uncle|aunt|cousin|friend|colleague|co-?worker|boss|manager|neighbou?r|landlord|landlady|roommate|flatmate|partner|fianc[ée]e?|girlfriend|boyfriend|grandmother|grandfather|grandma|grandpa|nephew|niece|baby|doctor|dentist|lawyer|therapist|teacher|coach|notary|nanny|assistant|patient|client|tenant|plumber|cleaner|witness|accountant|nurse|kollegin|kollege|freundin|freund|schwester|bruder|chef|chefin|frau|mann|sœur|soeur|frère|femme|mari|amie?|collègue|hermana|hermano|esposa|esposo|amiga|amigo|jefe|chefe|sorella|fratello|moglie|marito|irmã|irmão)\s?[,:]?\s$/i;
/** Words that often precede a name: weaker evidence, enough for an unknown run of two words. */
const ACTED_ON =
  /\b(?:ask|tell|told|met|meet|with|by|hired|married|thank|thanks to|invited|emailed|called|call|visited|and|for|to|from|reach|speak to|this is|contact|signed by|am|says|said|mit|von|avec|con|com)\s$/i;
const PERSON_ACT =
  /^(?:,? (?:\d{2},|who|whose)|'s (?:wife|husband|mother|father|sister|brother|son|daughter|birthday|phone|number|email|address|house|car)|(?: (?:also|just|always|never|still|often|really|now))? (?:said|says|lives|lived|works|worked|wants|wanted|asked|asks|called|calls|likes|loves|hates|prefers|plays|played|studies|studied|teaches|taught|speaks|spoke|owns|went|goes|came|comes|moved|married|bought|bakes|cooks|sails|sings|wrote|finished|fixed|scored|signed|joined|won|told|thinks|thought|needs|booked|forwarded|repaired|raised|gave|met|left|drove|drives|eats|drinks|smiled|laughed|died|retired|graduated|enjoys|remembers|forgot|knows|knew|lost|felt|feels|visited|visits|wohnt|arbeitet|habite|travaille|vive|trabaja|lavora|mora|trabalha|a signé|is (?:my|our|his|her|their) (?!favou?rite|home|hometown|next|first|last|dream|birth|go-to|top|city|country)\p{Ll}{2,24}|is (?:a |an |my |our |the |her |his )?(?:allergic|vegetarian|vegan|married|engaged|single|divorced|\d{1,3} years|doctor|nurse|teacher|engineer|lawyer|friend|colleague|cook|student|sick|out of office|new coach))\b)/iu;

export function findNames(scan: Scan, model: NameModel | undefined): void {
  const unknown: Span[] = [];
  let lookups = 0;
  const ask = (run: string): boolean => {
    if (model === undefined || lookups >= PII_NAME_LOOKUPS_MAX) return false;
    lookups += 1;
    return model(run);
  };
  for (const match of scan.text.matchAll(RUN)) findInRun(scan, { run: match[0], index: match.index, ask, unknown });
  findNextToNames(scan, unknown);
  findLowerNames(scan);
  if (!scan.ascii) findOtherScripts(scan);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Run {
  readonly run: string;
  readonly index: number;
  readonly ask: NameModel;
  /** Collects runs of several words without evidence. */
  readonly unknown: Span[];
}

const CONJUNCTION = /^(?:,|,? (?:and|&|or|und|et|y|e|i|en|och|ve))? $/;

/** "Adaobi Nwankwo and Stefan": a word listed with a name is a name. */
function findNextToNames(scan: Scan, unknown: readonly Span[]): void {
  const named = scan.found.filter(({ category }) => category === 'person_name');
  const starts = new Set(named.map(({ from }) => from));
  const ends = new Set(named.map(({ to }) => to));
  for (const { from, to } of unknown) {
    // The gap is short, so every length is tried.
    for (let gap = 2; gap <= 6; gap++) {
      const follows = starts.has(to + gap) && CONJUNCTION.test(scan.text.slice(to, to + gap));
      const precedes = ends.has(from - gap) && CONJUNCTION.test(scan.text.slice(from - gap, from));
      if (!follows && !precedes) continue;
      scan.add('person_name', from, to, 0.7, 'ner');
      break;
    }
  }
}

interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly key: string;
}

/** Splits a run of capitalised words at words that are not names: "Please", "Dr", "Monday". */
function findInRun(scan: Scan, { run, index, ask, unknown }: Run): void {
  let part: Token[] = [];
  for (const match of run.matchAll(TOKEN)) {
    const text = match[0].replace(/'s$|'$/, '');
    const token = { text, from: index + match.index, to: index + match.index + text.length, key: folded(text) };
    const last = part.at(-1);
    const surname = last !== undefined && isGiven(last.key) && SURNAMES_TOO.has(token.key);
    if ((namesNobody(token.key) && !surname) || ABBREVIATION.test(text)) {
      takePart(scan, part, ask, unknown);
      part = [];
    } else if (text === match[0]) part.push(token);
    else {
      takePart(scan, [...part, token], ask, unknown);
      part = [];
    }
  }
  takePart(scan, part, ask, unknown);
}

const ABBREVIATION = /^\p{Lu}{2,3}$/u;
/** Words that are names only after a given name: Stephen King. */
const SURNAMES_TOO: ReadonlySet<string> = new Set(
  'king prince judge bishop pope page case west north ford may march young day summer winter baker'.split(' '),
);

function namesNobody(key: string): boolean {
  if (NOT_NAMES.has(key.replace(/\.$/, ''))) return true;
  return key.includes('-') && key.split('-').every((part) => NOT_NAMES.has(part)); // "April-May"
}

const isParticle = ({ text }: Token): boolean => /^\p{Ll}/u.test(text);

function takePart(scan: Scan, tokens: readonly Token[], ask: NameModel, unknown: Span[]): void {
  let first = 0;
  let last = tokens.length - 1;
  while (first <= last && isParticle(tokens[first]!)) first += 1;
  while (last >= first && (isParticle(tokens[last]!) || tokens[last]!.text.length < 2)) last -= 1;
  if (first > last) return;
  if (isBrand(scan.text, tokens)) return;
  // "Allow David": the first word of a sentence and a name.
  const [head, next] = [tokens[first]!, tokens[first + 1]];
  if (next !== undefined && !isKnown(head.key) && isGiven(next.key) && !AMBIGUOUS.has(next.key)) first += 1;
  const name = tokens.slice(first, last + 1);
  const from = name[0]!.from;
  const to = name.at(-1)!.to;
  const judged = judge(scan.text, name, from, to, ask);
  if (judged !== undefined)
    scan.add('person_name', inverted(scan.text, name, from), to, judged.confidence, judged.source);
  else if (name.length > 1 && unknown.length < UNKNOWN_MAX && isLikeName(scan.text, name, from, to))
    unknown.push({ from, to });
}

function isBrand(text: string, tokens: readonly Token[]): boolean {
  if (!BRAND_NAMES.has(keyOf(tokens))) return false;
  const { from } = tokens[0]!;
  return !INTRODUCED.test(text.slice(Math.max(0, from - 48), from));
}

/** Runs that are kept until the text's names are known. */
const UNKNOWN_MAX = 1_024;

function isLikeName(text: string, name: readonly Token[], from: number, to: number): boolean {
  if (name.length > 4 || isThing(text, name, text.slice(Math.max(0, from - 16), from), to)) return false;
  if (isPublicName(keyOf(name))) return false;
  return name.every((token) => isParticle(token) || /^\p{Lu}[\p{Ll}'.-]/u.test(token.text));
}

function keyOf(name: readonly Token[]): string {
  return name.map(({ key }) => key).join(' ');
}

/** Start of a name with the family name first and a comma: "Kowalski, Anna". */
function inverted(text: string, name: readonly Token[], from: number): number {
  if (name.length > 2 || !text.startsWith(', ', from - 2)) return from;
  const family = /(?<![\p{L}'-])\p{Lu}[\p{L}'-]{2,30}(?=, $)/u.exec(text.slice(Math.max(0, from - 34), from));
  return family !== null && isGiven(name[0]!.key) && isFamily(folded(family[0])) ? from - 2 - family[0].length : from;
}

interface Judged {
  readonly confidence: number;
  readonly source: PiiSource;
}

function judge(text: string, name: readonly Token[], from: number, to: number, ask: NameModel): Judged | undefined {
  const before = text.slice(Math.max(0, from - 48), from);
  if (isThing(text, name, before, to)) return undefined;
  const words = name.filter((token) => !isParticle(token));
  const titled = TITLE.test(before);
  if (!titled && isShouted(words)) return undefined;
  // "name: Install dependencies": a label followed by a sentence.
  const goesOn = words.length === 1 && /:\s*$/.test(before) && /^ \p{Ll}/u.test(text.slice(to, to + 2));
  if (!titled && ((INTRODUCED.test(before) && !goesOn) || RELATION.test(before)))
    return { confidence: 0.85, source: 'regex' };
  const after = text.slice(to, to + 48);
  const key = keyOf(name);
  if (BRAND_NAMES.has(key) || isMake(before, after)) return undefined;
  if (FIGURES.has(key)) return isAlive(before, after) ? { confidence: 0.75, source: 'dictionary' } : undefined;
  if (titled) return { confidence: 0.9, source: 'regex' };
  // "Julia 1.10": a language, a tool.
  if (words.length === 1 && /^ v?\d+\.\d/.test(after)) return undefined;
  const acts = PERSON_ACT.test(after);
  if (words.length === 1 && isPlaceHere(key, before, after, acts)) return undefined;
  if (words.length === 1) return single(words[0]!, acts || isAddressed(before, after));
  return several(words, acts || ACTED_ON.test(before), acts, () => ask(text.slice(from, to)));
}

/** "Anna": listed as a name and not an everyday word, unless it acts as a person does. */
function single({ key, text }: Token, speaksForPerson: boolean): Judged | undefined {
  if (!isGiven(key) || text.length < 3) return undefined;
  if (AMBIGUOUS.has(key))
    return speaksForPerson && key.length > 3 ? { confidence: 0.7, source: 'dictionary' } : undefined;
  return { confidence: 0.8, source: 'dictionary' };
}

function several(
  words: readonly Token[],
  speaksForPerson: boolean,
  acts: boolean,
  ask: () => boolean,
): Judged | undefined {
  const given = words.filter(({ key }) => isGiven(key)).length;
  const family = words.filter(({ key }) => isFamily(key)).length;
  const sure = words.some(({ key }) => (isGiven(key) || isFamily(key)) && !AMBIGUOUS.has(key));
  const last = words.at(-1)!;
  // A given and a family name in either order; or a given name that is not a word, with any second word.
  if (given > 0 && family > 0 && given + family > 1) {
    const both =
      words.length > 1 && (sure || speaksForPerson || words.every(({ key }) => isGiven(key) || isFamily(key)));
    if (both) return { confidence: 0.9, source: 'dictionary' };
  }
  const head = words[0]!;
  if (isGiven(head.key) && !AMBIGUOUS.has(head.key)) return { confidence: 0.85, source: 'dictionary' };
  if (isFamily(last.key) && !AMBIGUOUS.has(last.key) && last.key.length > 3)
    return { confidence: 0.8, source: 'dictionary' };
  if (sure && speaksForPerson) return { confidence: 0.75, source: 'dictionary' };
  if (acts) return { confidence: 0.7, source: 'ner' };
  return ask() ? { confidence: 0.75, source: 'ner' } : undefined;
}

function isKnown(key: string): boolean {
  return isGiven(key) || isFamily(key) || key.endsWith('.');
}

/** True for a company, a place or a work: by a word in or after the name, an ampersand, or its fame. */
function isThing(text: string, name: readonly Token[], before: string, to: number): boolean {
  if (name.some(({ key }, index) => index > 0 && THING_WORDS.has(key))) return true;
  if (/&\s?$/.test(before) || /^\s?&/.test(text.slice(to, to + 2))) return true;
  if (NAMED_AFTER.test(before)) return true;
  if (/\b(?:San|Santa|Saint|St\.?|New|North|South|East|West|Lake|Mount|Fort|Port|Los|Las|Great|The) $/.test(before))
    return true;
  const next = /^ ([\p{L}]{2,20})/u.exec(text.slice(to, to + 24))?.[1];
  return next !== undefined && THING_WORDS.has(next.toLowerCase());
}

/** All capitals and short: an abbreviation. */
function isShouted(words: readonly Token[]): boolean {
  return words.every(({ text }) => /^\p{Lu}{2,}$/u.test(text) && text.length < 5);
}

/** "Thanks, Grace." "Grace, could you" */
function isAddressed(before: string, after: string): boolean {
  return (
    /(?:\b(?:thanks|thank you|hi|hello|hey|dear|tell|ask|with|and|meet|met),? )$/i.test(before) &&
    !/^ \p{Ll}+ing\b/u.test(after)
  );
}
