// Driving licences. The cue may be far from the number, so shapes and a check digit decide.
import { borderedMatches } from '../borders.ts';
import { germanLicence } from '../checksums.ts';
import { BY_CUE, BY_SHAPE, type Scan } from '../scan.ts';

const DIGITS_MIN = 5;
/**
 * Great Britain: name, date of birth with the decade first (a woman's month is increased by 50), initials, check
 * characters.
 */
const BRITISH = /[A-Z][A-Z9]{4}\d(?:0[1-9]|1[0-2]|5[1-9]|6[0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z9]{2} ?[A-Z0-9]{3}/g;
const GERMAN = /[A-P]\d{2}[A-Z0-9]{6}[0-9X][A-Z0-9]/g;
/** States of the USA and provinces of Canada whose numbers begin with a letter or consist of groups. */
const AMERICAN = new RegExp(
  [
    '[A-Z]-?\\d{3}-\\d{3}-\\d{3}-\\d{3}', // Maryland, Michigan, Minnesota
    '[A-Z]\\d{3}-\\d{3}-\\d{2}-\\d{3}-\\d', // Florida
    '[A-Z]\\d{3}-\\d{4}-\\d{4}(?:-\\d{2})?', // Illinois, Wisconsin
    '[A-Z]\\d{4}[- ]\\d{5}[- ]\\d{5}', // New Jersey, Ontario, Quebec's with other groups
    '[A-Z]\\d{4}-\\d{6}-\\d{2}',
    '[A-Z]\\d{2}-\\d{2}-\\d{4}', // Kansas
    '\\d{2}-\\d{3}-\\d{4}', // Colorado
    '\\d{2}[A-Z]{3}\\d{5}', // New Hampshire
    '[A-Z]{2}\\d{6}[A-Z]', // Idaho
    'WDL[A-Z0-9]{9}', // Washington
    '[A-Z]{5}-?\\d{5}-?\\d{5}', // Manitoba and others
    '[A-Z]{1,2}\\d{6,14}', // California, Ohio, Massachusetts and others
  ].join('|'),
  'g',
);

export function findLicences(scan: Scan): void {
  if (scan.digits < DIGITS_MIN) return;
  for (const { 0: number, index } of borderedMatches(scan.text, BRITISH))
    scan.add('license_number', index, index + number.length, BY_SHAPE);
  if (scan.cues('driver_license').length === 0) return;
  for (const { 0: number, index } of borderedMatches(scan.text, GERMAN))
    if (isAnnounced(scan, index, number.length) && germanLicence(number))
      scan.add('license_number', index, index + number.length, 1, 'checksum');
  for (const { 0: number, index } of borderedMatches(scan.text, AMERICAN))
    if (isAnnounced(scan, index, number.length)) scan.add('license_number', index, index + number.length, BY_CUE);
}

function isAnnounced(scan: Scan, index: number, length: number): boolean {
  return scan.announced('driver_license', index) || scan.explained('driver_license', index + length);
}
