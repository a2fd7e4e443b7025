// Places of residence: streets with a number, cities with their state, postal codes.
import { BY_CUE, BY_SHAPE, type Scan } from '../scan.ts';
import { skipLink } from './labelled.ts';

const STATES =
  'AL|AK|AZ|AR|CA|CO|CT|DE|DC|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|PA|PR|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY';
const STATE_NAMES =
  'Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming';
const CAPITAL = "\\p{Lu}[\\p{L}'.-]{0,30}";
const STREET_ENDS =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Ter|Way|Parkway|Pkwy|Circle|Cir|Highway|Hwy|Close|Crescent|Cres|Gardens|Grove|Mews|Row|Trail|Trl|Walk|Alley|Loop|Plaza|Hill|Quay|Broadway';
const UNIT =
  '(?:,? (?:Apt|Apartment|Suite|Ste|Unit|Floor|Fl|#|Flat|Room|Rm|Box)\\.? ?#?[A-Za-z0-9-]{1,6}(?![\\p{L}\\d]))?';

const ADDRESSES: readonly RegExp[] = [
  new RegExp(
    `(?:\\b(?:Flat|Apt|Apartment|Unit|Suite|Studio) [A-Za-z0-9]{1,5},? )?(?<![\\p{L}\\d.,-])\\d{1,5}[A-Za-z]?(?:-\\d{1,5})? (?:[NSEW]\\.? )?(?:(?:${CAPITAL}|\\d{1,3}(?:st|nd|rd|th)) ){1,4}(?:${STREET_ENDS})(?![\\p{L}])\\.?(?: [NSEW]{1,2}(?![\\p{L}]))?${UNIT}`,
    'gu',
  ),
  new RegExp(
    `\\b(?:Plot|House|Block|No\\.?) ?\\d{1,5}[A-Za-z]?,? (?:${CAPITAL} ){1,4}(?:${STREET_ENDS})(?![\\p{L}])`,
    'gu',
  ),
  /\bP\.? ?O\.? ?Box \d{1,7}/gi,
  /(?:\p{Lu}[\p{L}-]{1,30}(?:straße|strasse|str\.|gasse|weg|platz|allee|ufer|damm|straat|gracht|laan|plein|kade|singel|gatan|vägen|gata|vej|veien|katu)|\p{Lu}[\p{L}]{1,20}(?:-\p{Lu}[\p{L}]{1,20}){1,3}-(?:Straße|Strasse|Str\.|Platz|Allee|Weg)|Unter den Linden|\p{Lu}[\p{L}]{2,20}er (?:Straße|Str\.|Allee|Platz|Weg)) \d{1,4} ?[a-z]?(?![\p{L}\d])/gu,
  // Any street that is followed by a number, a five-digit postal code and a city.
  /(?<![\p{L}-])\p{Lu}[\p{L}.'-]{1,30}(?: [\p{L}.'-]{1,30}){0,3} \d{1,4} ?[a-z]?(?=,? (?:[A-Z]{1,2}-)?\d{5} \p{Lu}\p{L})/gu,
  /(?<![\p{L}\d.,-])\d{1,4}(?: ?(?:bis|ter))?,? (?:rue|avenue|boulevard|bd|place|chemin|quai|allée|impasse|cours|route|passage|square)(?: (?:de la|de l'|du|des|de|d'|la|le|les|l'))?[ ]?\p{Lu}[\p{L}'-]{1,30}(?:[ -]\p{Lu}[\p{L}'-]{1,30}){0,3}/gu,
  /(?<![\p{L}])(?:Calle|C\/|Avenida|Av\.|Avda\.|Paseo|Plaza|Carrera|Cra\.|Camino|Ronda|Via|Viale|Piazza|Corso|Largo|Vicolo|Rua|R\.|Travessa|Praça|Alameda|Estrada)(?: (?:de|del|della|delle|dei|di|do|da|dos|das|la|las|los|el)){0,3} ?\p{Lu}[\p{L}']{1,30}(?:(?: (?:de|del|di|do|da|dos|das|y|e))? \p{Lu}[\p{L}']{1,30}){0,3},? (?:n[º°.]? ?|nº ?|#)?\d{1,5}(?![\d\p{L}])/gu,
  /(?<![\p{L}])(?:ul\.|al\.|os\.|ул\.|улица|пр\.|проспект|вул\.) ?\p{Lu}[\p{L}-]{1,30}(?: \p{Lu}[\p{L}-]{1,30}){0,2},? ?(?:д\. ?)?\d{1,4}(?:\/\d{1,4})?(?: ?м\. ?\d{1,4}| ?кв\. ?\d{1,4})?/gu,
];
const OTHER_SCRIPTS: readonly RegExp[] = [
  /(?:\p{Script=Han}{2,3}[都道府県])\p{Script=Han}{1,8}[市区町村郡][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{0,20}\d{1,4}(?:丁目|番地?|号|-\d{1,4}){0,3}\d{0,4}(?:番地?|号)?/gu,
  // A part ends at the first possible character, so that a run of them has only one reading.
  /(?:[\p{Script=Han}--[省市区县州路街道巷弄号]]{1,7}[省市区县州]){1,4}[\p{Script=Han}--[路街道巷弄号]]{1,12}[路街道巷弄](?:[\p{Script=Han}--号]{1,4})?\d{1,5}号(?:\d{1,4}[室楼栋])?/gv,
  /(?:\p{Script=Hangul}{1,8}(?:특별시|광역시|도|시|군|구) ){1,3}\p{Script=Hangul}{1,10}(?:로|길|동)(?:\d{1,3}번?길)? ?\d{1,4}(?:-\d{1,4})?/gu,
];
const CITY_STATE = new RegExp(
  `\\p{Lu}[\\p{L}.'-]{1,24}(?: \\p{Lu}[\\p{L}.'-]{1,24}){0,2}, (?:(?:${STATES})(?![\\p{L}\\d.'_])|(?:${STATE_NAMES})(?!\\p{L}))`,
  'gu',
);
/** Abbreviations that are also words count with a postal code, or after a cue of residence. */
const DOUBTFUL = /, (?:OK|OR|IN|ME|HI|OH|LA|PA|MA|DE|ID|AL|AR|CO)$/;
const DWELLING = /\b(?:in|from|to|near|at|of|live|lives|address|[sS]treet|[sS]t|Ave|Lane|Road|Rd)[:,.]? $/;
/** Two states in a row are not a city in a state, except New York and Washington. */
const STATE_FIRST = new RegExp(`^(?!New York,|Washington,)(?:${STATE_NAMES}),`);
const LEADING =
  /^(?:In|From|To|At|Near|Live|Lives|Visit|Moved|The|And|Of|Street|St|Avenue|Ave|Road|Rd|Lane|Terrace|Drive|City) /;

const ZIP_US = /\d{5}(?:-\d{4})?(?!\w|-\d)/y;
const UK =
  /(?<![A-Z0-9])(?:[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d{1,2}|\d[A-HJKPSTUW]|[A-HK-Y]\d[ABEHMNPRVWXY])) \d[ABD-HJLNP-UW-Z]{2}(?![A-Za-z0-9])/g;
const CANADA = /(?<![A-Z0-9])[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z] \d[ABCEGHJ-NPRSTV-Z]\d(?![A-Za-z0-9])/g;
/** A postal code directly after a street and before a city. */
const AFTER_STREET = /(?:,| -|\n)? ?(\d{4,5}(?:-\d{3,4})?|\d{4} [A-Z]{2}|\d{2}-\d{3})(?= \p{Lu}|\s*$|[.,])/uy;
/** The values that are accepted after a cue of a postal code. */
const ANNOUNCED =
  /(?:\d{5}(?:-\d{3,4})?|\d{4} ?[A-Z]{2}|\d{3}-\d{4}|\d{2}-\d{3}|\d{3} ?\d{2,3}|\d{4,7}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?![\w-])/y;

export function findPlaces(scan: Scan): void {
  const { text } = scan;
  if (scan.digits > 0) {
    for (const pattern of scan.ascii ? ADDRESSES : [...ADDRESSES, ...OTHER_SCRIPTS])
      for (const { 0: address, index } of text.matchAll(pattern)) {
        const to = index + address.length;
        scan.add('address', index, to, BY_SHAPE);
        const [all, code] = matchAt(AFTER_STREET, text, to) ?? [];
        if (all !== undefined && code !== undefined)
          scan.add('zip_code', to + all.length - code.length, to + all.length, 0.85);
      }
    findPostalCodes(scan);
  }
  if (text.includes(', ')) findCities(scan);
}

function findPostalCodes(scan: Scan): void {
  const { text } = scan;
  for (const pattern of [UK, CANADA])
    for (const { 0: code, index } of text.matchAll(pattern))
      scan.add('zip_code', index, index + code.length, scan.announced('zip', index) ? 0.95 : 0.85);
  for (const cue of scan.cues('zip')) {
    const from = skipLink(text, cue.to);
    const code = from === undefined ? undefined : matchAt(ANNOUNCED, text, from)?.[0];
    if (from !== undefined && code !== undefined) scan.add('zip_code', from, from + code.length, BY_CUE);
  }
}

function findCities(scan: Scan): void {
  const { text } = scan;
  for (const { 0: all, index } of text.matchAll(CITY_STATE)) {
    const to = index + all.length;
    let place = all;
    while (LEADING.test(place)) place = place.replace(LEADING, '');
    const gap = text[to] === ',' ? 2 : 1;
    const zip = /\s/.test(text[to + gap - 1] ?? '') ? matchAt(ZIP_US, text, to + gap)?.[0] : undefined;
    const from = to - place.length;
    if (/^\p{Lu}+,|^(?:South|North|West) \p{Lu}\p{L}+, (?:South|North|West) /u.test(place) || STATE_FIRST.test(place))
      continue;
    const sure = zip !== undefined || !DOUBTFUL.test(place) || DWELLING.test(text.slice(Math.max(0, from - 12), from));
    if (sure) scan.add('city_state', from, to, BY_SHAPE);
    if (zip !== undefined) scan.add('zip_code', to + gap, to + gap + zip.length, BY_SHAPE);
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
