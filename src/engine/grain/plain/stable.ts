// Characters beyond ASCII that a text may hold and still be its own NFC: each is its own NFC form, does not move (it is no
// mark), and does not join with the one before it. A text of ASCII and such characters is in NFC (UAX #15, quick check),
// so its bytes can be copied. Any other text is left to the general path.

/** Code points below that are their own NFC and join with nothing before them. */
const FIRST_UNKNOWN = 0x300;
/** The table holds the basic plane, then U+1F000 to U+1FFFF, where the emoji are. */
const BASIC_END = 0x10000;
const EMOJI = 0x1f000;
const EMOJI_END = 0x20000;
/** Code points that are looked at together. */
const ROW = 64;

const STABLE = 1;
const OTHER = 2;

/**
 * Marks but for the selector of a picture, which moves nowhere; unassigned characters, of which another version of
 * Unicode may make marks; vowels and finals of Hangul, the only characters of this table that are no marks and join with
 * the one before; and the byte order mark.
 */
const UNSTABLE = /[\p{Cn}\p{Cs}\u1160-\u11ff\ufeff]|(?!\ufe0f)\p{M}/u;

/** By code point: 0 until its row was asked for. Made for the first such text. */
let known: Uint8Array | undefined;

/**
 * The number of bytes of the character of UTF-8 at `at`, before `end`, if it is stable and its first byte is not ASCII; 0 for
 * any other character and for bytes that are not UTF-8.
 */
export function stableLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  if (first < 0xe0) {
    if (first < 0xc2 || at + 2 > end) return 0;
    const second = bytes[at + 1]! ^ 0x80;
    return second < 0x40 && isStable(((first & 0x1f) << 6) | second) ? 2 : 0;
  }
  if (first < 0xf0) {
    if (at + 3 > end) return 0;
    const second = bytes[at + 1]! ^ 0x80;
    const third = bytes[at + 2]! ^ 0x80;
    if ((second | third) >= 0x40) return 0;
    const point = ((first & 0x0f) << 12) | (second << 6) | third;
    return point >= 0x800 && isStable(point) ? 3 : 0;
  }
  if (first !== 0xf0 || at + 4 > end) return 0;
  const second = bytes[at + 1]! ^ 0x80;
  const third = bytes[at + 2]! ^ 0x80;
  const fourth = bytes[at + 3]! ^ 0x80;
  if ((second | third | fourth) >= 0x40) return 0;
  const point = (second << 12) | (third << 6) | fourth;
  return point >= EMOJI && point < EMOJI_END && isStable(point) ? 4 : 0;
}

/** `point` is in the table. */
function isStable(point: number): boolean {
  if (point < FIRST_UNKNOWN) return true;
  known ??= new Uint8Array(BASIC_END + EMOJI_END - EMOJI);
  const place = point < BASIC_END ? point : point - EMOJI + BASIC_END;
  if (known[place] === 0) fillRow(known, place - (point % ROW), point - (point % ROW));
  return known[place] === STABLE;
}

function fillRow(table: Uint8Array, place: number, first: number): void {
  for (let i = 0; i < ROW; i++) {
    const text = String.fromCodePoint(first + i);
    table[place + i] = UNSTABLE.test(text) || text.normalize('NFC') !== text ? OTHER : STABLE;
  }
}
