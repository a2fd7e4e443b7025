// National identification numbers, one row a scheme. `shape` is a regular expression without borders; `valid` judges
// its match. `alone`: the shape is distinctive enough without a cue.

import {
  argentineCuit,
  australianTaxFile,
  austrianSv,
  balticCode,
  chileanRut,
  frenchNir,
  greekAmka,
  japaneseMyNumber,
  koreanRrn,
  luhn,
  mexicanCurp,
  pesel,
  russianInn,
  russianSnils,
  singaporeNric,
  southAfricanId,
  swissAhv,
  turkishId,
} from './checksums.ts';
import type { CueKind } from './cue-table.ts';
import { isIdentityCard, isTaxID } from './validators.ts';

export interface Scheme {
  readonly cue: CueKind;
  readonly shape: string;
  /** Absent when there is no check digit. */
  readonly valid?: ((text: string) => boolean) | undefined;
  readonly alone?: true | undefined;
}

type TaxLocale = Parameters<typeof isTaxID>[1];
type CardLocale = Parameters<typeof isIdentityCard>[1];

const plain = (text: string): string => text.replace(/[\s.-]/g, '').toUpperCase();
const tax = (locale: TaxLocale) => (text: string) => isTaxID(plain(text), locale);
const taxAsIs = (locale: TaxLocale) => (text: string) => isTaxID(text.toUpperCase(), locale);
const card = (locale: CardLocale) => (text: string) => isIdentityCard(plain(text), locale);

const MONTH_DAY = '(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01])';
const DAY_MONTH = '(?:0[1-9]|[12]\\d|3[01])(?:0[1-9]|1[0-2])';

export const SCHEMES: readonly Scheme[] = [
  { cue: 'br-cpf', shape: '\\d{3}\\.\\d{3}\\.\\d{3}-\\d{2}', valid: tax('pt-BR'), alone: true },
  { cue: 'br-cpf', shape: '\\d{11}|\\d{9}-\\d{2}', valid: tax('pt-BR') },
  { cue: 'pl-pesel', shape: '\\d{11}', valid: pesel },
  { cue: 'nl-bsn', shape: '\\d{9}|\\d{4}[. ]\\d{2}[. ]\\d{3}|\\d{3}[. ]\\d{3}[. ]\\d{3}', valid: tax('nl-NL') },
  { cue: 'se-pnr', shape: `\\d{2}${MONTH_DAY}[-+]\\d{4}`, valid: taxAsIs('sv-SE'), alone: true },
  { cue: 'se-pnr', shape: `(?:19|20)\\d{2}${MONTH_DAY}[-+]\\d{4}`, valid: taxAsIs('sv-SE') },
  { cue: 'se-pnr', shape: `(?:19|20)?\\d{2}${MONTH_DAY}\\d{4}`, valid: tax('sv-SE') },
  { cue: 'fi-hetu', shape: `${DAY_MONTH}\\d{2}[-+A-FU-Y]\\d{3}[0-9A-FHJ-NPR-Y]`, valid: taxAsIs('fi-FI'), alone: true },
  { cue: 'no-fnr', shape: '\\d{6} ?\\d{5}', valid: card('NO') },
  { cue: 'dk-cpr', shape: `${DAY_MONTH}\\d{2}-?\\d{4}` },
  { cue: 'in-aadhaar', shape: '[2-9]\\d{3}[ -]?\\d{4}[ -]?\\d{4}', valid: card('IN') },
  { cue: 'in-pan', shape: '[A-Z]{3}P[A-Z]\\d{4}[A-Z]', alone: true },
  { cue: 'cn-id', shape: '[1-9]\\d{5}(?:19|20)\\d{2}\\d{7}[\\dXx]', valid: card('zh-CN'), alone: true },
  {
    cue: 'hk-id',
    shape: '[A-Z]{1,2}\\d{6}\\([\\dA]\\)',
    valid: (text) => isIdentityCard(text, 'zh-HK'),
    alone: true,
  },
  { cue: 'hk-id', shape: '[A-Z]{1,2}\\d{6}[\\dA]', valid: card('zh-HK') },
  { cue: 'tw-id', shape: '[A-Z][12]\\d{8}', valid: card('zh-TW'), alone: true },
  { cue: 'kr-rrn', shape: `\\d{2}${MONTH_DAY}-[1-8]\\d{6}`, valid: koreanRrn, alone: true },
  { cue: 'sg-nric', shape: '[STFGM]\\d{7}[A-Z]', valid: singaporeNric, alone: true },
  { cue: 'my-nric', shape: `\\d{2}${MONTH_DAY}-\\d{2}-\\d{4}`, alone: true },
  { cue: 'th-id', shape: '[1-8]-\\d{4}-\\d{5}-\\d{2}-\\d', valid: card('TH'), alone: true },
  { cue: 'th-id', shape: '[1-8]\\d{12}', valid: card('TH') },
  { cue: 'za-id', shape: `\\d{2}${MONTH_DAY} ?\\d{4} ?[01]\\d{2}`, valid: southAfricanId },
  // 0 begins examples and 8 businesses, but an announced number is accepted anyway.
  { cue: 'ca-sin', shape: '\\d{3}[ .-]?\\d{3}[ .-]?\\d{3}', valid: luhn },
  { cue: 'au-tfn', shape: '\\d{3} ?\\d{3} ?\\d{3}', valid: australianTaxFile },
  { cue: 'tr-tckn', shape: '[1-9]\\d{10}', valid: turkishId },
  { cue: 'ro-cnp', shape: `[1-9]\\d{2}${MONTH_DAY}\\d{6}`, valid: tax('ro-RO') },
  { cue: 'bg-egn', shape: '\\d{10}', valid: tax('bg-BG') },
  { cue: 'cz-rc', shape: '\\d{2}[0-8]\\d[0-3]\\d/\\d{3,4}', valid: taxAsIs('cs-CZ'), alone: true },
  { cue: 'hr-oib', shape: '\\d{11}', valid: tax('hr-HR') },
  { cue: 'pt-nif', shape: '[1-3]\\d{2} ?\\d{3} ?\\d{3}', valid: tax('pt-PT') },
  { cue: 'be-nrn', shape: `\\d{2}\\.(?:0\\d|1[0-2])\\.[0-3]\\d-\\d{3}[.-]\\d{2}`, valid: tax('fr-BE'), alone: true },
  { cue: 'be-nrn', shape: '\\d{11}', valid: tax('fr-BE') },
  { cue: 'ch-ahv', shape: '756\\.?\\d{4}\\.?\\d{4}\\.?\\d{2}', valid: swissAhv, alone: true },
  { cue: 'ee-ik', shape: `[1-6]\\d{2}${MONTH_DAY}\\d{4}`, valid: balticCode },
  { cue: 'lt-ak', shape: `[1-6]\\d{2}${MONTH_DAY}\\d{4}`, valid: balticCode },
  {
    cue: 'es-dni',
    shape: '\\d{2}\\.?\\d{3}\\.?\\d{3}[ -]?[A-Z]|[XYZ]-?\\d{7}-?[A-Z]',
    valid: tax('es-ES'),
    alone: true,
  },
  { cue: 'fr-nir', shape: '[1-4] \\d{2} \\d{2} (?:\\d{2}|2[AB]) \\d{3} \\d{3} ?\\d{2}', valid: frenchNir, alone: true },
  { cue: 'fr-nir', shape: '[1-478]\\d{4}(?:\\d{2}|2[AB])\\d{6} ?\\d{2}', valid: frenchNir },
  { cue: 'it-cf', shape: '[A-Z]{6}\\d{2}[A-EHLMPRST]\\d{2}[A-Z]\\d{3}[A-Z]', valid: tax('it-IT'), alone: true },
  { cue: 'cl-rut', shape: '\\d{1,2}\\.\\d{3}\\.\\d{3}-[\\dkK]', valid: chileanRut, alone: true },
  { cue: 'cl-rut', shape: '\\d{7,8}-[\\dkK]', valid: chileanRut },
  { cue: 'ar-cuit', shape: '(?:20|2[3-7])-\\d{8}-\\d', valid: argentineCuit, alone: true },
  { cue: 'ar-cuit', shape: '(?:20|2[3-7])\\d{9}', valid: argentineCuit },
  { cue: 'ie-pps', shape: '\\d{7}[A-W][A-I]?', valid: tax('en-IE') },
  { cue: 'de-steuer', shape: '[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}', valid: tax('de-DE') },
  {
    cue: 'gb-nino',
    shape: '(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\\d{2}){3} ?[A-D]',
    alone: true,
  },
  { cue: 'mx-curp', shape: `[A-Z]{4}\\d{2}${MONTH_DAY}[HMX][A-Z]{5}[\\dA-Z]\\d`, valid: mexicanCurp, alone: true },
  { cue: 'mx-rfc', shape: `[A-ZÑ&]{4}\\d{2}${MONTH_DAY}[\\dA-Z]{3}`, alone: true },
  { cue: 'jp-my', shape: '\\d{4}[ -]?\\d{4}[ -]?\\d{4}', valid: japaneseMyNumber },
  { cue: 'ru-inn', shape: '\\d{12}', valid: russianInn },
  { cue: 'ru-snils', shape: '\\d{3}-\\d{3}-\\d{3}[ -]\\d{2}', valid: russianSnils, alone: true },
  { cue: 'ae-eid', shape: '784-?(?:19|20)\\d{2}-?\\d{7}-?\\d', alone: true },
  { cue: 'pk-cnic', shape: '[1-7]\\d{4}-\\d{7}-\\d', alone: true },
  { cue: 'il-id', shape: '\\d{9}', valid: card('he-IL') },
  { cue: 'gr-afm', shape: '\\d{9}', valid: tax('el-GR') },
  { cue: 'gr-amka', shape: '\\d{11}', valid: greekAmka },
  { cue: 'at-svnr', shape: `[1-9]\\d{3} ?${DAY_MONTH}\\d{2}`, valid: austrianSv },
  { cue: 'ua-ipn', shape: '\\d{10}', valid: tax('uk-UA') },
  { cue: 'id-nik', shape: '\\d{16}' },
  { cue: 'vn-cccd', shape: '\\d{12}|\\d{9}' },
  { cue: 'ph-tin', shape: '\\d{4}-?\\d{4}-?\\d{4}(?:-?\\d{4})?' },
  { cue: 'ng-nin', shape: '\\d{11}' },
  { cue: 'us-itin', shape: '9\\d{2}[- ]?[5-9]\\d[- ]?\\d{4}' },
  { cue: 'us-itin', shape: '9\\d{2}-[5-9]\\d-\\d{4}', alone: true },
  { cue: 'hu-tax', shape: '8\\d{9}|\\d{9}|\\d{3} \\d{3} \\d{3}|\\d-\\d{6}-\\d{4}' },
  { cue: 'co-cc', shape: '\\d{1,3}(?:\\.?\\d{3}){2,3}' },
  { cue: 'pe-dni', shape: '\\d{8}' },
  { cue: 'ar-dni', shape: '\\d{2}\\.\\d{3}\\.\\d{3}' },
];
