// How many tokens a text is: what budgets are counted in. One function for everything, so that what was counted when
// grains were chosen is what is counted in the end.

export interface TokenCounter {
  /** As DESCRIBE shows it. */
  readonly name: string;
  /** Tokens of a text, a whole number; 0 for the empty one. */
  count(text: string): number;
}

/**
 * A quarter of the ASCII characters, rounded up, and all others whole. Two texts in one are never more than both apart,
 * and a text with something in front of it never less.
 */
export const ESTIMATE: TokenCounter = { name: 'estimate', count: estimateTokens };

function estimateTokens(text: string): number {
  // Bytes are counted many times as fast as characters, and most texts have one for each.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4);
  let ascii = 0;
  let others = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    // The second half of a pair belongs to the character of the first.
    else if (!isSecondHalf(text, i, unit)) others++;
  }
  return Math.ceil(ascii / 4) + others;
}

function isSecondHalf(text: string, i: number, unit: number): boolean {
  if (unit < 0xdc00 || unit > 0xdfff || i === 0) return false;
  const before = text.charCodeAt(i - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
