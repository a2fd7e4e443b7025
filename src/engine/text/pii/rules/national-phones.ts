// Telephone numbers in national notation. Each shape is as narrow as the country's usual grouping, and the number must
// be one that can be assigned there.
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';

interface NationalShape {
  readonly shape: RegExp;
  /**
   * The number must be valid in one of these countries. Empty: the shape is unmistakable, even for an unassigned
   * number.
   */
  readonly regions: readonly CountryCode[];
}

const SHAPES: readonly NationalShape[] = [
  { shape: /^(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ]\d{4}$/, regions: ['US'] },
  { shape: /^(?:1[-. ])?\(\d{3}\) ?\d{3}[-. ]\d{4}$/, regions: [] },
  { shape: /^07\d{3} \d{6}$/, regions: [] },
  { shape: /^0[1-9](?:[ .-]\d{2}){4}$/, regions: ['FR', 'NL'] },
  { shape: /^04\d{2} \d{3} \d{3}$/, regions: ['AU'] },
  // A trunk prefix and three groups.
  {
    shape: /^\(?0\d{1,4}\)?[ -]\d{3,4}[ -]\d{3,4}$/,
    regions: ['GB', 'DE', 'JP', 'ZA', 'NG', 'KE', 'PH', 'VN', 'IL', 'SA', 'AE', 'MY', 'TH', 'ID', 'TR', 'NZ', 'PK'],
  },
  { shape: /^\(?0\d{4}\)? \d{6}$/, regions: ['GB'] },
  // Germany and Austria: the area in front of a slash, a hyphen, or in brackets; mobile numbers by their prefixes.
  { shape: /^01[567]\d{1,2}(?: ?[/-] ?| )\d{3,4}[ -]?\d{3,5}$/, regions: ['DE'] },
  { shape: /^0[2-9]\d{1,4} ?\/ ?\d{3,8}(?:[ -]\d{1,5})?$/, regions: ['DE', 'AT'] },
  { shape: /^0[2-9]\d{1,4}-\d{5,8}$/, regions: ['DE', 'AT'] },
  { shape: /^\(0\d{1,4}\) ?\d{3,8}(?:[ -]\d{1,5}){0,2}$/, regions: ['DE', 'AT', 'GB', 'AU', 'IT', 'NZ', 'ZA'] },
  { shape: /^06\d{2}[ /]\d{6,8}$/, regions: ['AT'] },
  { shape: /^0\d{2} \d{3} \d{2} \d{2}$/, regions: ['CH', 'UA'] },
  { shape: /^06[ -]\d{8}$/, regions: ['NL'] },
  { shape: /^04\d{2}[ /.]\d{2}[ .]?\d{2}[ .]?\d{2}$/, regions: ['BE'] },
  { shape: /^3\d{2}\/\d{6,7}$/, regions: ['IT'] },
  { shape: /^[67]\d{2} \d{2} \d{2} \d{2}$/, regions: ['ES'] },
  { shape: /^0?5\d{2} \d{3} \d{2} \d{2}$/, regions: ['TR'] },
  { shape: /^0[5789]0-\d{4}-\d{4}$/, regions: ['JP'] },
  { shape: /^01[016789]-\d{3,4}-\d{4}$/, regions: ['KR'] },
  { shape: /^1[3-9]\d[ -]\d{4}[ -]\d{4}$/, regions: ['CN'] },
  // With a hyphen it would be a range of pages.
  { shape: /^[6-9]\d{4} \d{5}$/, regions: ['IN'] },
  { shape: /^03\d{2}[ -]\d{7}$/, regions: ['PK'] },
  { shape: /^\(\d{2}\) ?9?\d{4}-\d{4}$/, regions: ['BR'] },
  { shape: /^8 ?\(\d{3}\) ?\d{3}-\d{2}-\d{2}$/, regions: ['RU'] },
];

/** True for a number that readers of some country recognise as a telephone number without a cue. */
export function ofNationalShape(number: string): boolean {
  return SHAPES.some(
    ({ shape, regions }) =>
      shape.test(number) && (regions.length === 0 || regions.some((region) => isValidIn(number, region))),
  );
}

export function isValidIn(number: string, region: CountryCode): boolean {
  return parsePhoneNumberFromString(number, region)?.isValid() === true;
}

/** Words for other kinds of numbers, directly before one. */
const OTHER_NUMBER =
  /\b(?:orders?|invoices?|tickets?|parts?|items?|skus?|models?|serials?|refs?|references?|tracking|batch|lots?|versions?|revisions?|catalog(?:ue)?|articles?|isbn|issn|ean|gtin|upc|case|docket|receipts?|shipments?|zip|bestell\p{L}*|auftrag\p{L}*|rechnung\p{L}*|artikel\p{L}*|teile?\p{L}*|commande|facture|pedido|factura|ordine|fattura)\W{0,3}(?:(?:numbers?|no|nr|num|id|code|n[º°])\W{0,3})?(?:(?:is|was)\s)?$/iu;

export function isNumbered(text: string, index: number): boolean {
  return OTHER_NUMBER.test(text.slice(Math.max(0, index - 40), index));
}
