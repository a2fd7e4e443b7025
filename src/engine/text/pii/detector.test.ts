import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { anyText } from '../../base/testing/any-text.ts';
import { PHI_CATEGORIES } from './categories.ts';
import { piiDetector } from './detector.ts';

const detector = piiDetector();
const categories = (text: string, label?: string): string[] =>
  detector.detect(text, label).map(({ category }) => category);

test('each of the Safe Harbor identifiers is found', () => {
  const samples: Readonly<Record<string, string>> = {
    person_name: 'My name is Maria Gonzalez.',
    address: 'She lives at 12 Elm Street.',
    city_state: 'He is from Denver, CO 80202.',
    zip_code: 'zip code 80202',
    date_of_birth: 'born on 3 May 1970',
    date: 'admitted on 2024-02-01',
    age_over_89: 'a 95-year-old man',
    phone: 'call (303) 555-0114',
    fax: 'fax (303) 555-0115',
    email: 'maria@example.org',
    ssn: 'SSN 219-09-9998',
    medical_record_number: 'MRN 4471829',
    health_plan_number: 'Medicare number 1EG4-TE5-MK73',
    account_number: 'account number 55779911',
    license_number: "driver's license D1234567",
    vehicle_id: 'VIN 1HGCM82633A004352',
    device_id: 'serial number C02XK1JH',
    url: 'https://example.org/maria',
    ip_address: 'from 203.0.113.9',
    biometric_id: 'fingerprint id FP-2231',
    photo_reference: 'photo: face_0001.jpg',
    unique_id: 'employee id E-20417',
  };
  assert.deepEqual(Object.keys(samples), [...PHI_CATEGORIES]);
  for (const [category, text] of Object.entries(samples)) assert.ok(categories(text).includes(category), text);
});

test('offsets are bytes of the original text', () => {
  const text = 'Grüße 👋 an jürgen@example.com, Tel. +49 30 901820';
  const bytes = Buffer.from(text);
  const found = detector.detect(text);
  assert.deepEqual(
    found.map(({ category, start, end }) => [category, bytes.toString('utf8', start, end)]),
    [
      ['email', 'jürgen@example.com'],
      ['phone', '+49 30 901820'],
    ],
  );
});

test('invisible characters, other digits and full-width letters hide nothing', () => {
  const zeroWidth = 'card 4111\u200b1111\u200b1111\u200b1111 now';
  const [card] = detector.detect(zeroWidth);
  assert.equal(card?.category, 'credit_card');
  assert.equal(card.matchedText, '4111\u200b1111\u200b1111\u200b1111');
  assert.deepEqual(categories('ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ'), ['email']);
  assert.deepEqual(categories('هاتف +٢٠ ١٠٠ ١٢٣ ٤٥٦٧'), ['phone']);
  assert.deepEqual(categories('SSN 219\u201109\u20119998'), ['ssn']);
});

test('data hidden in Base64 is found, and its place is the whole run', () => {
  const run = Buffer.from('SSN 219-09-9998, mail maria@example.org').toString('base64');
  const text = `payload=${run};`;
  const found = detector.detect(text);
  assert.deepEqual(found.map(({ category }) => category).sort(), ['email', 'ssn']);
  for (const finding of found) assert.equal(finding.matchedText, run);
  const twice = Buffer.from(`inside: ${run}`).toString('base64');
  assert.deepEqual(categories(twice).sort(), ['email', 'ssn']);
  assert.deepEqual(categories(Buffer.from(twice).toString('base64')), [], 'there is an end to it');
});

test('letters adjacent to a run of Base64 do not hide its content', () => {
  const run = Buffer.from('my ssn is 219-09-9998 yes').toString('base64').replace(/=+$/, '');
  for (const before of ['', 'x', 'xy', 'xyz'])
    for (const behind of ['', 'q', 'qr', 'qrs']) {
      const [finding] = detector.detect(`see ${before}${run}${behind} there`);
      assert.deepEqual([finding?.category, finding?.matchedText], ['ssn', `${before}${run}${behind}`]);
    }
});

test('other ways to write a character hide nothing, and offsets are those of the original', () => {
  const written: readonly (readonly [text: string, category: string, found: string])[] = [
    ['Grüße an alice[at]example.com!', 'email', 'alice[at]example.com'],
    ['Grüße an alice (at) example (dot) com!', 'email', 'alice (at) example (dot) com'],
    ['Grüße an alice%40example.com!', 'email', 'alice%40example.com'],
    ['Grüße an alice%2540example.com!', 'email', 'alice%2540example.com'],
    ['Grüße an j%C3%BCrgen%40example.com!', 'email', 'j%C3%BCrgen%40example.com'],
    ['Grüße an alice&#64;example.com!', 'email', 'alice&#64;example.com'],
    ['Grüße an alice&#x40;example.com!', 'email', 'alice&#x40;example.com'],
    ['Grüße an alice&commat;example&period;com!', 'email', 'alice&commat;example&period;com'],
    ['Grüße an alice&amp;#64;example.com!', 'email', 'alice&amp;#64;example.com'],
    ['Grüße an alice\\u0040example.com!', 'email', 'alice\\u0040example.com'],
    ['Grüße an alice=40example.com!', 'email', 'alice=40example.com'],
    ['Grüße an alice@example。com!', 'email', 'alice@example。com'],
    ['Grüße, 123.45.6789!', 'ssn', '123.45.6789'],
    ['Grüße, 219\u00a009\u00a09998!', 'ssn', '219\u00a009\u00a09998'],
    ['Grüße, 219\u280009\u28009998!', 'ssn', '219\u280009\u28009998'],
    ['Grüße, 219\u02d709\u02d79998!', 'ssn', '219\u02d709\u02d79998'],
    ['Grüße, 4111\u00a01111\u00a01111\u00a01111!', 'credit_card', '4111\u00a01111\u00a01111\u00a01111'],
    ['Grüße, 4111.1111.1111.1111!', 'credit_card', '4111.1111.1111.1111'],
    ['Grüße, J&uuml;rgen M&uuml;ller!', 'person_name', 'J&uuml;rgen M&uuml;ller'],
  ];
  for (const [text, category, found] of written) {
    const [finding, ...others] = detector.detect(text);
    assert.deepEqual([finding?.category, finding?.matchedText, others], [category, found, []], text);
    assert.equal(Buffer.from(text).toString('utf8', finding!.start, finding!.end), found);
  }
});

test('data hidden in hexadecimal digits is found, and its place is the whole run', () => {
  const plain = 'mail alice@example.com';
  const hex = Buffer.from(plain).toString('hex');
  const apart = hex.replace(/../g, '$& ').trim();
  for (const run of [hex, hex.toUpperCase(), `0x${hex}`, apart, apart.replaceAll(' ', ':')]) {
    const [finding] = detector.detect(`see ${run} decoded`);
    assert.deepEqual([finding?.category, finding?.matchedText], ['email', run]);
  }
  for (const run of [hex.slice(1), `x${hex}`, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'])
    assert.deepEqual(categories(run), [], run);
});

test('a field is read with its name', () => {
  assert.deepEqual(categories('4155552671'), []);
  const [phone] = detector.detect('4155552671', 'phone');
  assert.deepEqual([phone?.category, phone?.start, phone?.end], ['phone', 0, 10]);
  assert.deepEqual(categories('1990-01-15', 'date_of_birth'), ['date_of_birth']);
  assert.deepEqual(categories('1990-01-15', 'dateOfBirth'), ['date_of_birth']);
  assert.deepEqual(categories('blue', 'email'), []);
});

test('the longest of overlapping findings stays, then the one with the highest confidence', () => {
  assert.deepEqual(categories('https://example.org/?mail=ann@example.org'), ['url']);
  assert.deepEqual(categories('https://ann:secret1@example.org/'), ['url_userinfo']);
  assert.deepEqual(categories('IBAN GB29 NWBK 6016 1331 9268 19'), ['iban']);
});

test('findings are in order, do not overlap and have correct places', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'ann@example.org',
      '4111 1111 1111 1111',
      '+1 202 456 1111',
      'Maria Lopez',
      'SSN',
      '219-09-9998',
      'PIN 4821',
    ),
    fc.constantFrom(
      '\u200b',
      '－',
      '٤',
      'é',
      '王小明',
      ' ',
      ', ',
      ': ',
      '\n',
      'born on 3 May 1970',
      'U1NOIDIxOS0wOS05OTk4IG5vdw==',
    ),
    anyText({ maxLength: 8 }).filter((text) => text.isWellFormed()),
  );
  const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(text, (sample) => {
      const bytes = Buffer.from(sample);
      let end = 0;
      let last = '';
      for (const finding of detector.detect(sample)) {
        const place = `${finding.start}-${finding.end}`;
        assert.ok(finding.start >= end || place === last, 'they overlap');
        assert.ok(finding.end > finding.start);
        assert.equal(bytes.toString('utf8', finding.start, finding.end), finding.matchedText);
        assert.ok(finding.confidence > 0 && finding.confidence <= 1);
        end = finding.end;
        last = place;
      }
    }),
    { numRuns: runs(200) },
  );
});

test('long hostile texts finish in time', () => {
  const hostile = [
    'a',
    '1',
    '1 ',
    '1-',
    'a@',
    '@',
    'Aa ',
    'A.',
    '+1 ',
    ':',
    'f:',
    'name: ',
    'fax 1234567 ',
    '市',
    'password ',
    "'",
    '{',
    'www.',
    '%40',
    '%e2%82',
    '&#64;',
    '&',
    '&commat;',
    '\\u0040',
    '616c',
    '61 ',
    "o'a",
    "maureen o'leary ",
    'my name is maria ',
    'a [at] ',
    'a(dot)',
    'a @ ',
    '4111.',
    'de95 0320-',
    '219_09_',
    '0171 2345678 ',
    '0123-456-7890 ',
    'driver license A12',
    'MORGA657054',
    'Jordan and ',
    'Ada Lovelace ',
    'Ольге ',
    'محمد بن ',
    'דוד ',
    'श्री अमित ',
    'คุณสมชาย ',
    'a。',
  ];
  for (const unit of hostile) {
    const text = unit.repeat(Math.ceil(20_000 / unit.length));
    assert.ok(detector.detect(text).every(({ end }) => end <= Buffer.byteLength(text)));
  }
});

test('names are searched for unless they are switched off', () => {
  const text = 'I met Katarzyna Nowak.';
  assert.deepEqual(categories(text), ['person_name']);
  assert.deepEqual(piiDetector({ findNames: false }).detect(text), []);
  const asked: string[] = [];
  const model = piiDetector({ names: (run) => asked.push(run) > 0 });
  assert.equal(model.detect('We saw Qwerlin Astofar there.')[0]?.source, 'ner');
  assert.deepEqual(asked, ['Qwerlin Astofar']);
});

test('regions decide how a national number is read', () => {
  const number = '11 2345 6789';
  assert.equal(piiDetector({ regions: [] }).detect(`phone ${number}`)[0]?.confidence, 0.75);
  assert.equal(piiDetector({ regions: ['AR'] }).detect(`phone ${number}`)[0]?.confidence, 0.9);
});
