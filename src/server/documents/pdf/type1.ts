// The encoding inside a Type 1 font, as TeX embeds them: the glyph that each code names. It is in the clear text before
// `eexec`, a line `dup CODE /GLYPH put` for each code. The rest of the program only looks, and is not read.

const ENCODING = '/Encoding';
const CODES_MAX = 256;

/** Undefined for a program that refers to an encoding by name, or has none. */
export function encodingInType1(program: string): ReadonlyMap<number, string> | undefined {
  const clear = program.slice(0, Math.max(program.indexOf('eexec'), 0));
  const from = clear.indexOf(ENCODING);
  if (from === -1) return undefined;
  const glyphs = new Map<number, string>();
  for (const [, code, glyph = ''] of clear.slice(from).matchAll(/\bdup\s+(\d{1,3})\s*\/([^\s/[\](){}<>%]+)\s+put\b/g)) {
    if (Number(code) < CODES_MAX && glyph !== '.notdef') glyphs.set(Number(code), glyph);
  }
  return glyphs.size === 0 ? undefined : glyphs;
}
