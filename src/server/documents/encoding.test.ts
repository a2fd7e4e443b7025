import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText, encodingOf } from './encoding.ts';

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

// 日本語の文章です。これは「テスト」のファイルで、文字コードはシフトJISです。
const SHIFT_JIS = hex(
  '93fa967b8cea82cc95b68fcd82c582b7814282b182ea82cd8175836583588367817682cc83748340834383' +
    '8b82c58141 95b68e9a8352815b836882cd 83568376 83674a495382c582b78142',
);
// 这是中文的一个文件，我们在这里说明编码。
const GB18030 = hex('d5e2cac7d6d0cec4b5c4d2bbb8f6cec4bcfea3acced2c3c7d4dad5e2c0efcbb5c3f7b1e0c2eba1a3');

test('the encoding is that of the mark, of the declaration, or what the bytes look like', () => {
  const cases: readonly (readonly [Uint8Array, string, RegExp])[] = [
    [Buffer.from('\ufeffHällo'), 'utf-8', /^Hällo$/],
    [Buffer.from('Hällo שלום 日本'), 'utf-8', /^Hällo שלום 日本$/],
    [Buffer.from('\ufeffÄ б 日', 'utf16le'), 'utf-16le', /^Ä б 日$/],
    [Buffer.from('plain words', 'utf16le'), 'utf-16le', /^plain words$/],
    [Buffer.from('plain words', 'utf16le').swap16(), 'utf-16be', /^plain words$/],
    [Buffer.from('Café, Grüße und Año nuevo', 'latin1'), 'windows-1252', /^Café, Grüße und Año nuevo$/],
    [hex('938070207175 6f7465 94'), 'windows-1252', /^“€p quote”$/],
    [SHIFT_JIS, 'shift_jis', /^日本語の文章です。これは「テスト」/],
    [GB18030, 'gb18030', /^这是中文的一个文件，我们在这里说明编码。$/],
    [Buffer.from('<meta charset="windows-1251">\xcf\xf0', 'latin1'), 'windows-1251', /Пр$/],
    [Buffer.from('<?xml version="1.0" encoding="ISO-8859-2"?>\xb1', 'latin1'), 'iso-8859-2', /ą$/],
    [Buffer.from('<meta charset=latin1>Grüße'), 'utf-8', /Grüße$/],
  ];
  for (const [bytes, encoding, text] of cases) {
    assert.equal(encodingOf(bytes), encoding);
    assert.match(decodeText(bytes), text);
  }
});

test('bytes that are no text are refused', () => {
  assert.throws(() => decodeText(Buffer.from([0x41, 0, 0, 0x42, 7, 0])), /nor text/);
});
