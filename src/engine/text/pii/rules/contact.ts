// Contact data of persons and machines: mail, web and network addresses, telephone numbers.
import { isIPv6 } from 'node:net';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { PII_PHONE_LOOKUPS_MAX } from '../../../base/limits.ts';
import { isBordered, isVersion } from '../borders.ts';
import { BY_CUE, BY_SHAPE, type Scan } from '../scan.ts';
import { skipLink } from './labelled.ts';
import { isNumbered, isValidIn, ofNationalShape } from './national-phones.ts';

const LOCAL = "[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~-]";
/** Bounded on both sides of the `@`, so that a long run of letters does not take quadratic time. */
const EMAIL = new RegExp(
  `(?<![\\p{L}\\p{N}._%+-])[\\p{L}\\p{N}_]${LOCAL}{0,63}(?:\\.${LOCAL}{1,64}){0,8}@[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,62})(?:\\.[\\p{L}\\p{N}-]{1,63}){0,6}\\.\\p{L}{2,24}`,
  'gu',
);
const AT_WORD = '(?:at|ät|arroba|arobase|chiocciola|snabel-?a|kukac)';
const DOT_WORD = '(?:dot|punkt|punto|ponto|point)';
const bracketed = (word: string): string => `\\s{0,2}[[({<]\\s?${word}\\s?[\\])}>]\\s{0,2}`;
const AT = `(?:${bracketed(`(?:${AT_WORD}|@)`)}|\\s{1,2}${AT_WORD}\\s{1,2})`;
const DOT = `(?:${bracketed(`(?:${DOT_WORD}|\\.)`)}|\\s{1,2}${DOT_WORD}\\s{1,2}|\\.)`;
const SPELLED_EMAIL = new RegExp(
  `(?<![\\p{L}\\p{N}_+-])[a-z0-9_+-]{1,40}(?:${DOT}[a-z0-9_+-]{1,40}){0,3}${AT}[a-z0-9-]{1,40}(?:${DOT}[a-z0-9-]{1,40}){0,3}${DOT}[a-z]{2,12}(?![\\p{L}\\p{N}])`,
  'giu',
);
/** "at" is an everyday word. Brackets or a spelled dot show that it means the sign. */
const SPELLED = new RegExp(`[[({<]\\s?(?:${AT_WORD}|@|${DOT_WORD})\\s?[\\])}>]|\\s${DOT_WORD}\\s`, 'iu');
/** "free at the point of use": English never spells an address with these two words. */
const PROSE = /\sat\s.*\spoint\s/i;
/** With blanks around its signs: counts when it is announced or cannot be prose. */
const SPACED_EMAIL =
  /(?<![\w.+-])[\w.+-]{1,64}\s@\s[a-z0-9-]{1,63}(?:\s?\.\s?[a-z0-9-]{1,63}){0,3}\s?\.\s?[a-z]{2,12}(?![\w-])/gi;
/** "my mail is ann at example.org" */
const PLAIN_AT =
  /(?<![\w.+-])(?!(?:me|us|him|her|them|you|it|is|was|be|or|and|only)\s)[\w.+-]{1,64} at [a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,3}\.[a-z]{2,12}(?![\w-])/gi;
const MAIL_IS = /\b(?:e-?mail|mail)(?: address)?(?: is| was|:)? ?$/i;
const MAIL_BEFORE = /\b(?:e-?mail|mail|write to|contact|address|reach (?:me|us|him|her) at)\b[^.!?\n]{0,24}$/i;

/** Other schemes, which reach no person (`sqlite:///data.db`), count only with a password in the address. */
const WEB = /^(?:https?|ftps?|wss?|sftp|ssh|git|rtsp|ldaps?|ipfs|www\.)/i;
const URL = /\b(?:[a-z][a-z0-9+.-]{1,20}:\/\/|www\.)[^\s<>"'`()[\]{}|\\^]{3,2000}/gi;
const USERINFO = /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:[^\s/@]+@/i;
const LOCALHOST = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?=[:/]|$)/i;

const IPV4 = /(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}/g;
const IPV6 = /[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}/gi;
const MAC = /[0-9a-f]{2}(?:(:[0-9a-f]{2}){5}|(-[0-9a-f]{2}){5})/gi;

const PHONE = /(?:\+|\(\+)?\(?\d(?:[\d\s().\-/]{4,22})\d/g;
const EXTENSION = /^,? ?(?:ext\.?|extension|x|durchwahl|poste) ?\d{1,6}(?!\w)/i;
const DIGITS_MIN = 7;
const LINKED_WITHIN = 32;

export interface PhoneOptions {
  /** Countries whose national notation is tried for announced telephone numbers, in this order. */
  readonly regions: readonly CountryCode[];
}

export function findAddresses(scan: Scan): void {
  const { text } = scan;
  if (text.includes('@')) {
    for (const { 0: email, index } of text.matchAll(EMAIL)) {
      if (index === 0 || text[index - 1] !== '/' || text[index - 2] !== '/')
        scan.add('email', index, index + email.length, 0.95);
    }
  }
  if (SPELLED.test(text))
    for (const { 0: email, index } of text.matchAll(SPELLED_EMAIL))
      if (SPELLED.test(email) && !PROSE.test(email)) scan.add('email', index, index + email.length, BY_CUE);
  if (text.includes(' at ') && /mail/i.test(text))
    for (const { 0: email, index } of text.matchAll(PLAIN_AT))
      if (MAIL_IS.test(text.slice(Math.max(0, index - 24), index)))
        scan.add('email', index, index + email.length, BY_CUE);
  if (text.includes(' @ '))
    for (const { 0: email, index } of text.matchAll(SPACED_EMAIL))
      if (/^\S*[._\d]/.test(email) || MAIL_BEFORE.test(text.slice(Math.max(0, index - 40), index)))
        scan.add('email', index, index + email.length, BY_CUE);
  if (text.includes('://') || text.includes('www.') || text.includes('WWW.')) findUrls(scan);
}

function findUrls(scan: Scan): void {
  for (const match of scan.text.matchAll(URL)) {
    const url = match[0].replace(/[.,;:!?*_]{1,9}$/, '');
    if (USERINFO.test(url)) scan.add('url_userinfo', match.index, match.index + url.length, 0.95);
    else if (WEB.test(url) && !LOCALHOST.test(url)) scan.add('url', match.index, match.index + url.length, BY_SHAPE);
  }
}

export function findNetwork(scan: Scan): void {
  const { text } = scan;
  if (scan.digits >= 4 && text.includes('.'))
    for (const { 0: ip, index } of text.matchAll(IPV4))
      if (isAddress(text, ip, index)) scan.add('ip_address', index, index + ip.length, BY_SHAPE);
  if (text.includes(':')) {
    for (const { 0: ip, index } of text.matchAll(IPV6)) {
      const sure = isIPv6(ip) && /\d/.test(ip) && ip !== '::1' && ip.replace(/:/g, '').length >= 4;
      if (sure && isBordered(text, index, index + ip.length) && text[index - 1] !== ':')
        scan.add('ip_address', index, index + ip.length, BY_SHAPE);
    }
  }
  if (scan.digits > 0 || text.includes(':'))
    for (const { 0: mac, index } of text.matchAll(MAC))
      if (isBordered(text, index, index + mac.length) && text[index + mac.length] !== ':' && text[index - 1] !== ':')
        scan.add('mac_address', index, index + mac.length, 0.95);
}

function isAddress(text: string, ip: string, index: number): boolean {
  if (!isBordered(text, index, index + ip.length) || /^(?:127\.|0\.|255\.255)/.test(ip)) return false;
  return !isVersion(text, index) && !/^\d+\.0\.0\.0$/.test(ip);
}

export function findPhones(scan: Scan, { regions }: PhoneOptions): void {
  if (scan.digits < DIGITS_MIN) return;
  const { text } = scan;
  let lookups = 0;
  for (const { 0: raw, index } of text.matchAll(PHONE)) {
    const number = trimmed(raw);
    if (number === undefined || !isBordered(text, index, index + number.length)) continue;
    const plus = number.startsWith('+') || number.startsWith('(+') || /^00[1-9]/.test(number);
    const fax = scan.announced('fax', index) && scan.distance('fax', index) <= scan.distance('phone', index);
    const announced = fax || scan.announced('phone', index) || scan.explained('phone', index + number.length);
    lookups += 1;
    const confidence =
      lookups > PII_PHONE_LOOKUPS_MAX
        ? unjudged(plus || announced)
        : plus
          ? international(number)
          : national(number, {
              announced,
              linked: announced && isLinked(scan, index),
              numbered: () => isNumbered(text, index),
              regions,
            });
    if (confidence === undefined) continue;
    const to = index + number.length;
    const extension = EXTENSION.exec(text.slice(to, to + 24));
    scan.add(fax ? 'fax' : 'phone', index, to + (extension === null ? 0 : extension[0].length), confidence);
  }
}

/** Ends the number before anything that cannot belong to it: a second blank, an unopened bracket, the end of a line. */
function trimmed(raw: string): string | undefined {
  const line = raw.split(/\n|\s{2,}|\. |, /, 1)[0]!.replace(/[\s().\-/]+$/, '');
  if (/\d\(\d(?!\))/.test(line)) return undefined; // 20(20-8): a product.
  const count = line.replace(/\D/g, '').length;
  return count >= DIGITS_MIN && count <= 16 ? line : undefined;
}

/** Past the limit of look-ups: it is a telephone number if the text says so. */
function unjudged(announced: boolean): number | undefined {
  return announced ? 0.75 : undefined;
}

function international(number: string): number | undefined {
  const plain = number.replace(/^\(?\+|^00/, '+').replace(/\(0\)/, '');
  const parsed = parsePhoneNumberFromString(plain);
  return parsed?.isValid() === true ? 0.95 : undefined;
}

/** True when only words such as "number" and "is" separate a label from the number. */
function isLinked(scan: Scan, index: number): boolean {
  return (['phone', 'fax'] as const).some((kind) => {
    const distance = scan.distance(kind, index);
    return distance < LINKED_WITHIN && skipLink(scan.text, index - distance) === index;
  });
}

interface Telling {
  readonly announced: boolean;
  readonly linked: boolean;
  /** True after a word for another kind of number, such as an order's or a part's. */
  readonly numbered: () => boolean;
  readonly regions: readonly CountryCode[];
}

function national(number: string, { announced, linked, numbered, regions }: Telling): number | undefined {
  if (ofNationalShape(number) && (announced || !numbered())) return announced ? 0.95 : 0.85;
  if (!announced) return undefined;
  // A plain row of digits may be many things, and "call" or "text" may refer to something else.
  if (!linked && /^\d{1,9}$/.test(number)) return undefined;
  if (regions.some((region) => isValidIn(number, region))) return BY_SHAPE;
  if (!linked) return undefined;
  // Announced as a telephone number and long enough. A false finding is better than a missed one here.
  return /^\d{4}-\d{2}-\d{2}|^\d+\.\d+$/.test(number) ? undefined : 0.75;
}
