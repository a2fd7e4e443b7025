import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  argentineCuit,
  australianMedicare,
  australianTaxFile,
  austrianSv,
  balticCode,
  chileanRut,
  deaNumber,
  frenchNir,
  germanKvnr,
  germanLicence,
  greekAmka,
  japaneseMyNumber,
  koreanRrn,
  luhn,
  mexicanCurp,
  nhsNumber,
  npiNumber,
  pesel,
  routingNumber,
  russianInn,
  russianSnils,
  singaporeNric,
  southAfricanId,
  swissAhv,
  turkishId,
  vehicleNumber,
} from './checksums.ts';

/** Numbers that are valid, made by another implementation of the published rules. */
const VALID: readonly (readonly [(text: string) => boolean, readonly string[]])[] = [
  [luhn, ['4111 1111 1111 1111', '490154203237518']],
  [germanLicence, ['B072RRE2I55', 'J430A1RRI22', 'C21071J4Y56']],
  [pesel, ['44051401359', '94042387980', '02070803628']],
  [balticCode, ['39805159236', '45610137598', '38703181745']],
  [frenchNir, ['2 79 03 48 829 632 28', '255081416802538', '2 40 07 05 033 520 93']],
  [swissAhv, ['756.9217.0769.85', '756.1551.8929.00']],
  [singaporeNric, ['S1234567D', 'S9668896B']],
  [southAfricanId, ['8001015009087', '8606167468087']],
  [australianTaxFile, ['123 456 782', '739 734 531']],
  [australianMedicare, ['2123 45670 1', '4392 98353 1']],
  [turkishId, ['10000000146', '96032047236']],
  [chileanRut, ['12.345.678-5', '14.864.201-K']],
  [argentineCuit, ['20-25089747-3', '20-21336333-7']],
  [nhsNumber, ['943 476 5919', '577 188 5142']],
  [japaneseMyNumber, ['3363 0243 9344', '2353 0671 5086']],
  [russianSnils, ['446-353-328 85', '112-233-445 95']],
  [russianInn, ['725465877405', '213096698743']],
  [mexicanCurp, ['HEGG560427MVZRRL04', 'LOAM540327HNLLPN08']],
  [austrianSv, ['8219 220784', '3814 240488']],
  [germanKvnr, ['A123456780', 'M260696488']],
  [deaNumber, ['AB1234563', 'BG2624446']],
  [npiNumber, ['1234567893', '1306140827']],
  [vehicleNumber, ['1M8GDM9AXKP042788', '3VWFEVLH7XS038674']],
  [routingNumber, ['021000021', '059080592']],
];

test('numbers are valid as their offices made them, and no longer when a digit is another', () => {
  for (const [check, numbers] of VALID) {
    for (const number of numbers) {
      assert.ok(check(number), `${check.name} ${number}`);
      const at = number.search(/\d/);
      const wrong = `${number.slice(0, at)}${(Number(number[at]) + 1) % 10}${number.slice(at + 1)}`;
      assert.ok(!check(wrong), `${check.name} ${wrong}`);
    }
  }
});

test('a day that no calendar has makes a number invalid', () => {
  assert.ok(koreanRrn('811111-2638851'));
  assert.ok(!koreanRrn('811311-2638851'));
  assert.ok(!greekAmka('01139012345'));
  assert.ok(!pesel('94992387980'));
});
