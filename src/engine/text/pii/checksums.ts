// Check digits that the validator package lacks or judges wrongly. Each function takes the number as written;
// `digitsOf` drops separators. The rules are those that the issuing offices publish.
import { isLuhnNumber } from './validators.ts';

export function digitsOf(text: string): number[] {
  return Array.from(text.replace(/\D/g, ''), Number);
}

function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * (digits[index] ?? 0), 0);
}

/** True when a two-digit year, a month and a day could be a date; `month` may carry a century above 20, 40, 50, 70, 80. */
function isDayOfYear(month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

export function luhn(text: string): boolean {
  return isLuhnNumber(text.replace(/\D/g, ''));
}

export function pesel(text: string): boolean {
  const digits = digitsOf(text);
  const month = (digits[2]! * 10 + digits[3]!) % 20;
  if (digits.length !== 11 || !isDayOfYear(month, digits[4]! * 10 + digits[5]!)) return false;
  return (10 - (weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === digits[10];
}

/** Estonia and Lithuania. */
export function balticCode(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 11 || !isDayOfYear(digits[3]! * 10 + digits[4]!, digits[5]! * 10 + digits[6]!)) return false;
  const first = weighted(digits, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const check = first < 10 ? first : (weighted(digits, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11) % 10;
  return check === digits[10];
}

/** France: the number of the social insurance, its key modulo 97; Corsica's departments have a letter. */
export function frenchNir(text: string): boolean {
  const plain = text
    .replace(/[\s.-]/g, '')
    .replace('2A', '19')
    .replace('2B', '18');
  return /^[1-478]\d{14}$/.test(plain) && 97n - (BigInt(plain.slice(0, 13)) % 97n) === BigInt(plain.slice(13));
}

/** Switzerland: EAN-13 that begins with 756. */
export function swissAhv(text: string): boolean {
  const digits = digitsOf(text);
  return (
    digits.length === 13 &&
    text.startsWith('756') &&
    weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0
  );
}

/** South Korea. Numbers since October 2020 have no check digit, so only the date is checked. */
export function koreanRrn(text: string): boolean {
  const digits = digitsOf(text);
  return (
    digits.length === 13 && isDayOfYear(digits[2]! * 10 + digits[3]!, digits[4]! * 10 + digits[5]!) && digits[6]! >= 1
  );
}

export function singaporeNric(text: string): boolean {
  const sum = weighted(digitsOf(text), [2, 7, 6, 5, 4, 3, 2]);
  const [first = '', last = ''] = [text[0], text.at(-1)];
  if (first === 'S' || first === 'T') return 'JZIHGFEDCBA'[(sum + (first === 'T' ? 4 : 0)) % 11] === last;
  if (first === 'F' || first === 'G') return 'XWUTRQPNMLK'[(sum + (first === 'G' ? 4 : 0)) % 11] === last;
  return 'KLJNPQRTUWX'[10 - ((sum + 3) % 11)] === last;
}

export function southAfricanId(text: string): boolean {
  const digits = digitsOf(text);
  return digits.length === 13 && isDayOfYear(digits[2]! * 10 + digits[3]!, digits[4]! * 10 + digits[5]!) && luhn(text);
}

export function australianTaxFile(text: string): boolean {
  const digits = digitsOf(text);
  return digits.length === 9 && weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;
}

export function australianMedicare(text: string): boolean {
  const digits = digitsOf(text);
  return (
    (digits.length === 10 || digits.length === 11) && weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9]) % 10 === digits[8]
  );
}

export function turkishId(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 11 || digits[0] === 0) return false;
  const tenth = (weighted(digits, [7, -1, 7, -1, 7, -1, 7, -1, 7]) + 100) % 10;
  return tenth === digits[9] && digits.slice(0, 10).reduce((sum, digit) => sum + digit, 0) % 10 === digits[10];
}

export function chileanRut(text: string): boolean {
  const plain = text.replace(/[^\dkK]/g, '').toUpperCase();
  let sum = 0;
  for (let index = plain.length - 2, weight = 2; index >= 0; index--, weight = weight === 7 ? 2 : weight + 1)
    sum += Number(plain[index]) * weight;
  const check = 11 - (sum % 11);
  return (check === 11 ? '0' : check === 10 ? 'K' : String(check)) === plain.at(-1);
}

export function argentineCuit(text: string): boolean {
  const digits = digitsOf(text);
  const check = 11 - (weighted(digits, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return digits.length === 11 && (check === 11 ? 0 : check) === digits[10];
}

/** The number of a patient in England and Wales. */
export function nhsNumber(text: string): boolean {
  const digits = digitsOf(text);
  const check = 11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11);
  return digits.length === 10 && (check === 11 ? 0 : check) === digits[9];
}

export function japaneseMyNumber(text: string): boolean {
  const digits = digitsOf(text);
  const rest = weighted(digits, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return digits.length === 12 && (rest <= 1 ? 0 : 11 - rest) === digits[11];
}

export function russianSnils(text: string): boolean {
  const digits = digitsOf(text);
  const check = (weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101) % 100;
  return digits.length === 11 && check === digits[9]! * 10 + digits[10]!;
}

export function russianInn(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 12) return false;
  const first = (weighted(digits, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10;
  const second = (weighted(digits, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11) % 10;
  return first === digits[10] && second === digits[11];
}

export function mexicanCurp(text: string): boolean {
  const alphabet = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ';
  let sum = 0;
  for (let index = 0; index < 17; index++) sum += alphabet.indexOf(text[index]!) * (18 - index);
  return (10 - (sum % 10)) % 10 === Number(text[17]);
}

export function austrianSv(text: string): boolean {
  const digits = digitsOf(text);
  if (digits.length !== 10 || !isDayOfYear(digits[6]! * 10 + digits[7]!, digits[4]! * 10 + digits[5]!)) return false;
  return weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11 === digits[3];
}

/** The number of a person insured in Germany: a letter, eight digits and their check digit. */
export function germanKvnr(text: string): boolean {
  const letter = text.toUpperCase().charCodeAt(0) - 64;
  const digits = [Math.floor(letter / 10), letter % 10, ...digitsOf(text)];
  let sum = 0;
  for (let index = 0; index < 10; index++) {
    const product = digits[index]! * (index % 2 === 0 ? 1 : 2);
    sum += product > 9 ? product - 9 : product;
  }
  return digits.length === 11 && sum % 10 === digits[10];
}

/** A prescriber's registration in the United States. */
export function deaNumber(text: string): boolean {
  const digits = digitsOf(text);
  const sum = weighted(digits, [1, 2, 1, 2, 1, 2]);
  return digits.length === 7 && sum % 10 === digits[6];
}

/** A provider's number in the United States: Luhn with the prefix 80840. */
export function npiNumber(text: string): boolean {
  return digitsOf(text).length === 10 && luhn(`80840${text}`);
}

/** The number of a vehicle with North America's check digit in the ninth place. */
export function vehicleNumber(text: string): boolean {
  const values = '0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ';
  const weights = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
  let sum = 0;
  for (let index = 0; index < 17; index++) sum += (values.indexOf(text[index]!) % 10) * weights[index]!;
  return (sum % 11 === 10 ? 'X' : String(sum % 11)) === text[8];
}

/** A bank's routing number in the United States. */
export function routingNumber(text: string): boolean {
  const digits = digitsOf(text);
  return digits.length === 9 && weighted(digits, [3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 === 0;
}

export function greekAmka(text: string): boolean {
  const digits = digitsOf(text);
  return digits.length === 11 && isDayOfYear(digits[2]! * 10 + digits[3]!, digits[0]! * 10 + digits[1]!) && luhn(text);
}

/** A driving licence of Germany: four characters of the office, five of its count, the check digit, the issue. */
export function germanLicence(text: string): boolean {
  let sum = 0;
  for (let index = 0; index < 9; index++) sum += Number.parseInt(text[index]!, 36) * (9 - index);
  return text.length === 11 && (sum % 11 === 10 ? 'X' : String(sum % 11)) === text[9];
}
