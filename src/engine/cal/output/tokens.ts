// Counts the tokens of a text for budgets. One counter serves a whole answer, so the count while grains are chosen agrees
// with the final one.

export interface TokenCounter {
  /** The name in DESCRIBE. */
  readonly name: string;
  /** The number of tokens, a whole number; 0 for an empty text. */
  count(text: string): number;
}

/**
 * One token for four ASCII characters, rounded up, and one for each other character. Concatenation never costs more than
 * both texts apart, and never less than either.
 */
export const ESTIMATE: TokenCounter = { name: 'estimate', count: estimateTokens };

function estimateTokens(text: string): number {
  // A fast path for ASCII: counting bytes is many times faster than counting characters.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4);
  let ascii = 0;
  let others = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    // Count a surrogate pair once.
    else if (!isSecondHalf(text, i, unit)) others++;
  }
  return Math.ceil(ascii / 4) + others;
}

function isSecondHalf(text: string, i: number, unit: number): boolean {
  if (unit < 0xdc00 || unit > 0xdfff || i === 0) return false;
  const before = text.charCodeAt(i - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
