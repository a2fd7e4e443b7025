// Names that refer to no living person: historical and fictional figures, places with names of people, and brands.
import { COUNTRY_NAMES, FIGURES, PLACES_TOO } from '../figures.ts';
import { folded } from '../name-lists.ts';
import { BRAND_NAMES, NOT_NAMES } from '../not-names.ts';

/** Acts of living people, or acts towards them: the name is then that of a living person. */
const WITH_THE_LIVING =
  /\b(?:ask|tell|call|e-?mail|text|remind|invite|contact|thank|thanks,?|meet|met|hi,?|hello,?|hey,?|dear|reach|speak to|talk to|talked to|spoke to|spoke with)\s$/i;
const BY_THE_LIVING =
  /^(?:'s (?:phone|number|e-?mail|address|birthday|house|car|order|account|appointment|wife|husband|boss)| (?:lives|works|wants|asks|needs|calls|called(?: (?:me|us|back|again|in|twice|today|yesterday))?(?=[.,!?]|$)|called (?:me|us|back|again)|e?mailed|booked|prefers|likes|is (?:my|our|allergic|vegan|vegetarian|out of office|on leave)))\b/;

/** True when the context suggests a living person. */
export function isAlive(before: string, after: string): boolean {
  return WITH_THE_LIVING.test(before) || BY_THE_LIVING.test(after);
}

export function isPublicName(key: string): boolean {
  return FIGURES.has(key) || BRAND_NAMES.has(key);
}

const STRAIGHT =
  /\b(?:in|near|across|throughout|around|outside|inside|into|visit|visits|visited|visiting|toured?|leave|leaving|between|for downtown|downtown|northern|southern|eastern|western|central|rural)\s$/i;
const OF_A_PLACE =
  /\b(?:king|queen|kingdom|capital|city|town|state|republic|government|people|history|map|north|south|east|west|coast|border|borders|embassy|president|parliament|parts?|province|region|streets|university|port|area|outskirts|population|economy|culture) of\s$/i;
/** "to" and "from" also precede people. */
const MOVED =
  /\b(?:fl(?:y|ew|ies|ying)|flights?|go|goes|going|went|gone|mov(?:e|ed|es|ing)|travel(?:s|led|ed|ling|ing)?|trips?|trains?|bus(?:es)?|road|roads|way|dr(?:ive|ove|iving)|ship(?:ped|ping|s)?|export(?:s|ed)?|import(?:s|ed)?|back|return(?:s|ed)?|relocat(?:e|ed|ing)|tour|cruise|visa)\b[^.!?;:]{0,24}\b(?:to|from)\s$/i;
const TRADED = /\b(?:trade|border|borders|peace|war|treaty|relations|talks|ties|friendship|match|game) with\s$/i;
const LIKE_A_PLACE =
  /^(?:'s (?:capital|king|queen|government|economy|border|borders|population|parliament|north|south|east|west|largest|biggest|coast|president|airport|currency|history|climate|mayor|downtown|streets|suburbs|museums)\b| (?:borders?|bordering|lies|beat|hosts|hosted|exports?|imports?)\b| (?:is|was|are|remains) (?:a|an|the|in|located|near|far|hot|cold|cheap|expensive|one of)(?: \p{Ll}+){0,3} (?:country|countries|city|cities|town|state|kingdom|nation|republic|capital|island|province|region|river|suburb|village|place|destination|apart|largest|biggest|summer|winter)\b| has (?:a population|warm|cold|hot|cool|mild|many|few|no (?:coast|oil|army))\b)/u;
const LISTED_BEFORE = /(\p{Lu}[\p{L}]{2,20})(?:,|,? (?:and|or|und|et|y|e|&)) $/u;
const LISTED_AFTER = /^(?:,|,? (?:and|or|und|et|y|e|&)) (\p{Lu}[\p{L}]{2,20})/u;

/** True for a single name that is a place in this context. A person who acts may be in a list with places. */
export function isPlaceHere(key: string, before: string, after: string, acts: boolean): boolean {
  if (!PLACES_TOO.has(key)) return false;
  if (STRAIGHT.test(before) || OF_A_PLACE.test(before) || MOVED.test(before) || TRADED.test(before)) return true;
  if (LIKE_A_PLACE.test(after)) return true;
  return !acts && (isPlaceName(LISTED_BEFORE.exec(before)?.[1]) || isPlaceName(LISTED_AFTER.exec(after)?.[1]));
}

function isPlaceName(word: string | undefined): boolean {
  if (word === undefined) return false;
  const key = folded(word);
  return COUNTRY_NAMES.has(key) || (NOT_NAMES.has(key) && PLACE_LIKE.has(key));
}

/** Cities that occur in lists of places. */
const PLACE_LIKE: ReadonlySet<string> = new Set(
  (
    'london paris berlin munich hamburg vienna rome milan torino madrid barcelona lisbon amsterdam brussels dublin edinburgh ' +
    'boston chicago houston dallas denver seattle portland miami detroit atlanta phoenix philadelphia toronto montreal ' +
    'vancouver sydney melbourne tokyo osaka kyoto beijing shanghai seoul mumbai delhi cairo istanbul ankara moscow kyiv warsaw ' +
    'prague budapest athens oslo stockholm helsinki copenhagen zurich geneva lyon nantes america europe africa asia'
  ).split(' '),
);

/** Products that carry their makers' names. */
const PRODUCT =
  /^ (?:tractors?|mowers?|combines?|dealers?|dealership|jeans|bags?|handbags?|shirts?|shoes|sneakers|boots|dress|dresses|gowns?|perfumes?|cologne|whiske?y|bourbon|guitars?|pianos?|watch|watches|sunglasses|suits?|ties|makeup|outlet|boutique)\b/;

/** True when a product with a maker's name follows. */
export function isMake(before: string, after: string): boolean {
  return PRODUCT.test(after) && !/\b(?:my|name|called|with|for|from|to|and)\s$/i.test(before.replace(/["']$/, ''));
}

/** Storms and projects get names of people. */
export const NAMED_AFTER =
  /\b(?:Hurricane|Storm|Typhoon|Cyclone|Operation|Project|Planet|Camp|Castle|Villa|Hotel|Radio) $/;
