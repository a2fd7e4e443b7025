// National identification numbers, by the table of schemes, and US social security numbers.
import { borderedMatches, isVersion } from '../borders.ts';
import { SCHEMES, type Scheme } from '../national-ids.ts';
import { BY_CUE, BY_SHAPE, type Scan } from '../scan.ts';

interface Compiled extends Scheme {
  readonly pattern: RegExp;
}

const COMPILED: readonly Compiled[] = SCHEMES.map((scheme) => ({ ...scheme, pattern: new RegExp(scheme.shape, 'g') }));
const ALONE = COMPILED.filter(({ alone }) => alone === true);
/** Tried first on short texts, most of which are names of sessions and tags, because each scheme costs a call. */
const ANY_ALONE = new RegExp(ALONE.map(({ shape }) => `(?:${shape})`).join('|'));
const SHORT_CHARS = 64;
const ANNOUNCED = COMPILED.filter(({ alone }) => alone === undefined);
const CHECKED = COMPILED.filter(({ valid }) => valid !== undefined);

/** Three, two and four digits with the same separator twice; it may be any kind of blank. */
const SSN = /[0-8]\d{2}( ?[-./_] ?| {1,2})\d{2}\1\d{4}/g;
const SSN_LOOSE = /[0-8]\d{2}[-./_ ]{0,3}\d{2}[-./_ ]{0,3}\d{4}/g;
/** Areas, groups and serial numbers that are never issued. */
const NEVER_ISSUED = /^(?:000|666)|^\d{3}\D*00|0000$/;
/** The shape of an announced identity number without a country. */
const ANY = /[A-Z]{0,3}\d(?:[ -]?\d){4,15}(?:[A-Z]{1,2}\d{0,2})?/g;
/** No number of the table has fewer digits. */
const DIGITS_MIN = 4;

export function findNationalIds(scan: Scan): void {
  if (scan.digits < DIGITS_MIN) return;
  if (scan.text.length > SHORT_CHARS || ANY_ALONE.test(scan.text))
    for (const scheme of ALONE) find(scan, scheme, false);
  for (const scheme of ANNOUNCED) if (scan.cues(scheme.cue).length > 0) find(scan, scheme, true);
  if (scan.cues('any_id').length > 0) {
    for (const scheme of CHECKED) find(scan, { ...scheme, cue: 'any_id' }, true);
    for (const match of borderedMatches(scan.text, ANY))
      if (scan.announced('any_id', match.index))
        scan.add('national_id', match.index, match.index + match[0].length, BY_CUE - 0.05);
  }
  findSocialSecurity(scan);
}

function find(scan: Scan, { cue, pattern, valid }: Compiled, needsCue: boolean): void {
  for (const match of borderedMatches(scan.text, pattern)) {
    const { 0: number, index } = match;
    const to = index + number.length;
    const isAnnounced = scan.announced(cue, index) || scan.explained(cue, to);
    if (needsCue && !isAnnounced) continue;
    if (valid === undefined) scan.add('national_id', index, to, isAnnounced ? BY_SHAPE : 0.85);
    else if (valid(number)) scan.add('national_id', index, to, 1, 'checksum');
  }
}

function findSocialSecurity(scan: Scan): void {
  const announced = scan.cues('ssn').length > 0;
  for (const { 0: number, index } of borderedMatches(scan.text, announced ? SSN_LOOSE : SSN)) {
    const to = index + number.length;
    if (NEVER_ISSUED.test(number)) continue;
    if (announced && scan.announced('ssn', index)) scan.add('ssn', index, to, SURE);
    else if (isGrouped(number) && !isOther(scan, number, index)) scan.add('ssn', index, to, SURE);
  }
}

/** The highest confidence by shape: no telephone number is written this way. */
const SURE = 0.95;

function isGrouped(number: string): boolean {
  return /^\d{3}(\D{1,3})\d{2}\1\d{4}$/.test(number);
}

/** Blanks also separate telephone numbers, and points separate version numbers. */
function isOther(scan: Scan, number: string, index: number): boolean {
  if (/^\d+ +\d/.test(number)) return scan.announced('phone', index) || scan.announced('fax', index);
  return number[3] === '.' && isVersion(scan.text, index);
}
