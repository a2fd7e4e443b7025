// Numbers of payment cards and bank accounts with check digits.

import { isBordered } from '../borders.ts';
import type { Scan } from '../scan.ts';
import { isCreditCard, isIBAN } from '../validators.ts';

const CARD = /[2-6]\d{3}(?:[ .\-/_]{0,3}\d){8,15}/g;
const CARD_DIGITS_MIN = 14;
/** Card numbers with thirteen digits are obsolete; article numbers and some national numbers have as many. */
const CARD_DIGITS_ANNOUNCED_MIN = 13;
const IBAN = /[A-Z]{2}\d{2}(?:[ .-]{0,2}[A-Z0-9]){11,30}/gi;
/** Characters that may be cut off the end of a possible account number: the following word. */
const IBAN_TRIMS_MAX = 40;

export function findPayments(scan: Scan): void {
  if (scan.digits < CARD_DIGITS_ANNOUNCED_MIN) return;
  findCards(scan);
  findIbans(scan);
}

function findCards(scan: Scan): void {
  const { text } = scan;
  for (const { 0: number, index } of text.matchAll(CARD)) {
    const to = index + number.length;
    if (!isBordered(text, index, to)) continue;
    const digits = number.replace(/\D/g, '');
    if (!isOneNumber(number)) continue;
    const least = scan.announced('card', index) ? CARD_DIGITS_ANNOUNCED_MIN : CARD_DIGITS_MIN;
    if (digits.length >= least && isCreditCard(digits)) scan.add('credit_card', index, to, 1, 'checksum');
  }
}

/**
 * Blanks and hyphens may be mixed. Other separators must be the same throughout; otherwise there are several numbers.
 */
function isOneNumber(number: string): boolean {
  const signs = new Set(number.replace(/\d/g, ''));
  return signs.size <= 1 || [...signs].every((sign) => sign === ' ' || sign === '-');
}

function findIbans(scan: Scan): void {
  const { text } = scan;
  for (const { 0: run, index } of text.matchAll(IBAN)) {
    for (let trims = 0, length = run.length; trims < IBAN_TRIMS_MAX && length >= 15; trims++, length--) {
      const account = run.slice(0, length);
      if (/[ .-]$/.test(account) || !isBordered(text, index, index + length)) continue;
      if (!isIBAN(account.replace(/[ .-]/g, '').toUpperCase())) continue;
      scan.add('iban', index, index + length, 1, 'checksum');
      break;
    }
  }
}
