// The syntax of PDF: numbers, names, strings, lists, dictionaries and references. Bytes are read as a Latin-1 string, in
// which each character is one byte.

export class Name {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A string of bytes; not text yet. */
export class Bytes {
  readonly latin1: string;
  constructor(latin1: string) {
    this.latin1 = latin1;
  }
}

export class Reference {
  readonly number: number;
  constructor(number: number) {
    this.number = number;
  }
}

/** A word that is no value: an operator, `obj`, `stream`. */
export class Keyword {
  readonly word: string;
  constructor(word: string) {
    this.word = word;
  }
}

export type Dictionary = ReadonlyMap<string, Value>;
export type Value = number | boolean | null | Name | Bytes | Reference | Keyword | readonly Value[] | Dictionary;

/** Thrown when the direct reader gives up; PDF.js then reads the file. */
export class Unusual extends Error {
  override name = 'Unusual';
}

/** 1: blank, 2: delimiter, for each byte. */
const CLASSES = new Uint8Array(256);
for (const blank of [0, 9, 10, 12, 13, 32]) CLASSES[blank] = 1;
for (const delimiter of '()<>[]{}/%') CLASSES[delimiter.charCodeAt(0)] = 2;

const DEPTH_MAX = 100;
const END = new Keyword('');

/** Hexadecimal strings are decoded here: most are short. */
const SCRATCH = Buffer.allocUnsafeSlow(4_096);

/** Operators of page contents, which are most of the words, by their characters. */
const OPERATORS = new Map(
  `q Q cm w J j M d ri i gs m l c v y h re S s f F f* B B* b b* n W W* BT ET Tc Tw Tz TL Tf Tr Ts Td TD Tm T* Tj TJ ' " d0 d1
   CS cs SC SCN sc scn G g RG rg K k sh BI ID EI Do MP DP BMC BDC EMC BX EX R`
    .split(/\s+/)
    .map((word) => [packedWord(word, 0, word.length), new Keyword(word)] as const),
);
const OPERATOR_CHARS_MAX = 3;

/** The characters of a short word as one number. */
function packedWord(text: string, from: number, to: number): number {
  let packed = 0;
  for (let at = from; at < to; at++) packed = packed * 256 + text.charCodeAt(at);
  return packed;
}

export class Lexer {
  readonly text: string;
  at: number;
  #depth = 0;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  skipBlanks(): void {
    const { text } = this;
    for (let at = this.at; ; at++) {
      const unit = text.charCodeAt(at);
      if (CLASSES[unit] === 1) continue;
      if (unit === 0x25) {
        while (at < text.length && text.charCodeAt(at) !== 10 && text.charCodeAt(at) !== 13) at++;
        continue;
      }
      this.at = at;
      return;
    }
  }

  /** The next value; a keyword without letters at the end of the text. */
  next(): Value {
    this.skipBlanks();
    const { text, at } = this;
    const unit = text.charCodeAt(at);
    switch (unit) {
      case 0x2f:
        return this.#name();
      case 0x28:
        return this.#literal();
      case 0x3c:
        return text.charCodeAt(at + 1) === 0x3c ? this.#dictionary() : this.#hex();
      case 0x5b:
        return this.#list();
      default:
        if ((unit >= 0x30 && unit <= 0x39) || unit === 0x2d || unit === 0x2e || unit === 0x2b) return this.#number();
        return at >= text.length ? END : this.#keyword();
    }
  }

  #number(): Value {
    const { text } = this;
    let at = this.at;
    const first = text.charCodeAt(at);
    const sign = first === 0x2d ? -1 : 1;
    if (first === 0x2d || first === 0x2b) at++;
    let value = 0;
    let scale = 0;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x30 && unit <= 0x39) {
        value = value * 10 + unit - 0x30;
        scale *= 10;
      } else if (unit === 0x2e && scale === 0) scale = 1;
      // Some writers put a sign into a number.
      else if (unit !== 0x2d) break;
    }
    this.at = at === this.at ? at + 1 : at;
    return (sign * value) / (scale || 1);
  }

  #name(): Name {
    const { text } = this;
    let at = this.at + 1;
    const from = at;
    while (at < text.length && CLASSES[text.charCodeAt(at)] === 0) at++;
    this.at = at;
    const raw = text.slice(from, at);
    if (!raw.includes('#')) return new Name(raw);
    return new Name(raw.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
  }

  #hex(): Bytes {
    const end = this.text.indexOf('>', this.at);
    const to = end === -1 ? this.text.length : end;
    const digits = this.text.slice(this.at + 1, to);
    this.at = to + 1;
    // Decoding stops at the first character that is no digit.
    const whole = digits.length <= SCRATCH.length * 2 ? SCRATCH : Buffer.allocUnsafe(digits.length >> 1);
    const length = whole.write(digits, 'hex');
    if (length * 2 === digits.length) return new Bytes(whole.toString('latin1', 0, length));
    const even = digits.replace(/[^0-9a-f]/gi, '');
    return new Bytes(Buffer.from(even.length % 2 === 0 ? even : `${even}0`, 'hex').toString('latin1'));
  }

  #literal(): Bytes {
    const { text } = this;
    let at = this.at + 1;
    let from = at;
    let made = '';
    for (let open = 1; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === 0x28) open += 1;
      else if (unit === 0x29) {
        open -= 1;
        if (open === 0) break;
      } else if (unit === 0x5c) {
        made += text.slice(from, at);
        const escaped = escapeAt(text, at + 1);
        made += escaped.made;
        at += escaped.length;
        from = at + 1;
      }
    }
    this.at = at + 1;
    return new Bytes(made + text.slice(from, at));
  }

  #list(): Value[] {
    this.#enter();
    this.at += 1;
    const list: Value[] = [];
    for (;;) {
      this.skipBlanks();
      if (this.at >= this.text.length) break;
      if (this.text.charCodeAt(this.at) === 0x5d) {
        this.at += 1;
        break;
      }
      const value = this.next();
      if (isKeyword(value, 'R') && list.length >= 2) list.splice(-2, 2, referenceOf(list.at(-2)));
      else list.push(value);
    }
    this.#depth -= 1;
    return list;
  }

  #dictionary(): Dictionary {
    this.#enter();
    this.at += 2;
    const members = new Map<string, Value>();
    for (;;) {
      this.skipBlanks();
      if (this.at >= this.text.length) break;
      if (this.text.startsWith('>>', this.at)) {
        this.at += 2;
        break;
      }
      const key = this.next();
      if (!(key instanceof Name)) continue;
      members.set(key.name, this.#member());
    }
    this.#depth -= 1;
    return members;
  }

  /** A value, which may be a reference: two numbers and an R. */
  #member(): Value {
    const value = this.next();
    if (typeof value !== 'number' || !Number.isInteger(value)) return value;
    REFERENCE.lastIndex = this.at;
    if (!REFERENCE.test(this.text)) return value;
    this.at = REFERENCE.lastIndex;
    return new Reference(value);
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new Unusual('values nest too deep');
  }

  #keyword(): Value {
    const { text } = this;
    let at = this.at;
    while (at < text.length && CLASSES[text.charCodeAt(at)] === 0) at++;
    if (at === this.at) at += 1;
    const from = this.at;
    this.at = at;
    const operator = at - from <= OPERATOR_CHARS_MAX ? OPERATORS.get(packedWord(text, from, at)) : undefined;
    if (operator !== undefined) return operator;
    const word = text.slice(from, at);
    if (word === 'true') return true;
    if (word === 'false') return false;
    return word === 'null' ? null : new Keyword(word);
  }
}

const REFERENCE = /[\0\t\n\f\r ]+\d+[\0\t\n\f\r ]+R(?![A-Za-z])/y;

export function isKeyword(value: Value, word: string): boolean {
  return value instanceof Keyword && value.word === word;
}

function referenceOf(value: Value | undefined): Value {
  return typeof value === 'number' ? new Reference(value) : null;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The character of an escape, and the number of characters behind its backslash. */
function escapeAt(text: string, at: number): { readonly made: string; readonly length: number } {
  const octal = /^[0-7]{1,3}/.exec(text.slice(at, at + 3))?.[0];
  if (octal !== undefined) return { made: String.fromCharCode(Number.parseInt(octal, 8) & 0xff), length: octal.length };
  const letter = text.charAt(at);
  if (letter === '\r') return { made: '', length: text.charAt(at + 1) === '\n' ? 2 : 1 };
  return letter === '\n' ? { made: '', length: 1 } : { made: ESCAPES[letter] ?? letter, length: 1 };
}

export function isDictionary(value: Value | undefined): value is Dictionary {
  return value instanceof Map;
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}
