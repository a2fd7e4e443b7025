// Strings of any code points, for property tests. They are drawn as `fc.string({ unit: 'binary' })` draws them, names
// such as `__proto__` included. That unit builds a map of a million characters when a test first uses it, which takes
// longer than most tests. Here a character's number is computed.
import fc from 'fast-check';

const SURROGATES_START = 0xd800;
const SURROGATES = 0x800;
const CODE_POINTS = 0x110000 - SURROGATES;

const character = fc.nat({ max: CODE_POINTS - 1 }).map(
  (number) => String.fromCodePoint(number < SURROGATES_START ? number : number + SURROGATES),
  (value) => {
    const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== value) throw new Error('not a single character');
    if (code >= SURROGATES_START && code < SURROGATES_START + SURROGATES) throw new Error('half of a character');
    return code < SURROGATES_START ? code : code - SURROGATES;
  },
);

export function anyText(lengths: Omit<fc.StringConstraints, 'unit'> = {}): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: character });
}
