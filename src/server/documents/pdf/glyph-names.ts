// Names of glyphs to characters, as fonts with encodings of their own use them. Letters with accents are composed.
const NAMES =
  'exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle \' parenleft ( parenright ) asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave ` braceleft { bar | braceright } asciitilde ~ quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ guilsinglleft ‹ guilsinglright › guillemotleft « guillemotright » endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ perthousand ‰ fraction ⁄ Euro € cent ¢ sterling £ yen ¥ currency ¤ section § paragraph ¶ copyright © registered ® trademark ™ degree ° plusminus ± multiply × divide ÷ minus − mu µ onesuperior ¹ twosuperior ² threesuperior ³ onehalf ½ onequarter ¼ threequarters ¾ ordfeminine ª ordmasculine º exclamdown ¡ questiondown ¿ logicalnot ¬ brokenbar ¦ periodcentered · AE Æ ae æ OE Œ oe œ Oslash Ø oslash ø Lslash Ł lslash ł Eth Ð eth ð Thorn Þ thorn þ germandbls ß dotlessi ı dotlessj ȷ ff ff fi fi fl fl ffi ffi ffl ffl acute ´ dieresis ¨ circumflex ˆ tilde ˜ macron ¯ breve ˘ ring ˚ caron ˇ cedilla ¸ dotaccent ˙ ogonek ˛ hungarumlaut ˝ alpha α beta β gamma γ delta δ epsilon ε lambda λ pi π sigma σ theta θ omega ω phi φ Omega Ω Delta Δ Sigma Σ lessequal ≤ greaterequal ≥ notequal ≠ approxequal ≈ infinity ∞ arrowright → arrowleft ← element ∈ asteriskmath ∗ visiblespace ␣'.split(
    ' ',
  );
const CHARACTERS = new Map<string, string>([
  ['space', ' '],
  ['nbspace', ' '],
]);
for (let at = 0; at + 1 < NAMES.length; at += 2) CHARACTERS.set(NAMES[at] ?? '', NAMES[at + 1] ?? '');

const ACCENTS: Readonly<Record<string, string>> = {
  acute: '\u0301',
  grave: '\u0300',
  circumflex: '\u0302',
  dieresis: '\u0308',
  tilde: '\u0303',
  ring: '\u030a',
  cedilla: '\u0327',
  caron: '\u030c',
  macron: '\u0304',
  ogonek: '\u0328',
  breve: '\u0306',
  dotaccent: '\u0307',
  hungarumlaut: '\u030b',
  commaaccent: '\u0326',
};
const ACCENTED = new RegExp(`^([A-Za-z])(${Object.keys(ACCENTS).join('|')})$`);

/** The text of a glyph; undefined for an unknown name. */
export function textOfGlyph(name: string): string | undefined {
  if (/^[A-Za-z]$/.test(name)) return name;
  const known = CHARACTERS.get(name);
  if (known !== undefined) return known;
  const dot = name.indexOf('.', 1);
  if (dot !== -1) return textOfGlyph(name.slice(0, dot));
  const accented = ACCENTED.exec(name);
  if (accented !== null) return `${accented[1]}${ACCENTS[accented[2] ?? '']}`.normalize('NFC');
  const hex = /^uni([0-9A-F]{4})$/.exec(name)?.[1] ?? /^u([0-9A-F]{4,6})$/.exec(name)?.[1];
  const code = hex === undefined ? Number.NaN : Number.parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff && (code & 0xf800) !== 0xd800 ? String.fromCodePoint(code) : undefined;
}
