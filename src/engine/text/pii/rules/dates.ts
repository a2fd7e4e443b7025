// Dates that concern a person: of birth and of health events; ages above 89.
import { BY_CUE, BY_SHAPE, type Scan } from '../scan.ts';

const MONTH =
  '(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|février|mar(?:ch|s|zo)?|märz|apr(?:il)?|avril|abril|aprile|may|mai|mayo|maggio|june?|juin|junio|juni|giugno|july?|juillet|julio|juli|luglio|aug(?:ust)?|août|agosto|sept?(?:ember)?|septembre|septiembre|settembre|oct(?:ober)?|oktober|octobre|octubre|ottobre|nov(?:ember)?|novembre|noviembre|dec(?:ember)?|dezember|décembre|diciembre|dicembre|enero|gennaio|janeiro|febrero|febbraio|fevereiro|março|maio|junho|julho|setembro|outubro|novembro|dezembro)\\.?';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const YEAR = '(?:1[89]\\d{2}|20\\d{2})';
const DATE = new RegExp(
  [
    `${YEAR}[-/.]\\d{1,2}[-/.]\\d{1,2}`,
    `${DAY}[/.-]${DAY}[/.-](?:${YEAR}|\\d{2})`,
    `${DAY}(?:st|nd|rd|th|er|\\.)?(?: of| de)? ${MONTH}(?:,? (?:de )?${YEAR})?`,
    `${DAY}[-/]${MONTH}[-/]${YEAR}`,
    `${MONTH} ${DAY}(?:st|nd|rd|th)?(?:,? ${YEAR})?`,
    `${YEAR}[年년] ?\\d{1,2}[月월] ?\\d{1,2}[日일]`,
  ].join('|'),
  'giu',
);
const YEARS_OLD =
  /\b(?:9\d|1[01]\d)(?:[ -](?:years?|yrs?)[ -]old|[ -]?y\/?o\b|[ -]year[ -]olds?| Jahre alt| ans\b(?= |$|[.,])| años de edad| anni\b)/gi;
const AGED = /\b(?:aged|age|age:|âgée? de|edad:?)\s(?:9\d|1[01]\d)(?![\d%])/gi;
/** Words between a date and the word for its meaning. */
const BIRTHDAY = /^ (?:is|was) (?:my|his|her|their|the|your|our) /;
/** The longest distance between a date and its cue. */
const NEAR_BIRTH = 24;

export function findDates(scan: Scan): void {
  if (scan.digits === 0) return;
  const { text } = scan;
  if (scan.cues('birth').length > 0 || scan.cues('health_date').length > 0) {
    for (const { 0: date, index } of text.matchAll(DATE)) {
      if (!isWhole(text, index, index + date.length)) continue;
      const birth = scan.distance('birth', index);
      const to = index + date.length;
      if (BIRTHDAY.test(text.slice(to, to + NEAR_BIRTH)) && scan.explained('birth', to))
        scan.add('date_of_birth', index, to, BY_SHAPE);
      else if (birth <= NEAR_BIRTH && birth <= scan.distance('health_date', index) && scan.announced('birth', index))
        scan.add('date_of_birth', index, index + date.length, BY_SHAPE);
      else if (scan.announced('health_date', index)) scan.add('date', index, index + date.length, BY_CUE);
    }
  }
  for (const pattern of [YEARS_OLD, AGED])
    for (const { 0: age, index } of text.matchAll(pattern))
      scan.add('age_over_89', index, index + age.length, BY_SHAPE);
}

function isWhole(text: string, from: number, to: number): boolean {
  return !/[\d\p{L}]/u.test(text[to] ?? '') && !/[\d.]/.test(text[from - 1] ?? '');
}
