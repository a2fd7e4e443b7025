// Text of anybody as a report shows it.

/**
 * Control characters, and characters that turn the direction of what follows, become U+FFFD: a name must not change how the
 * words beside it read. Line feeds stay, tabs become blanks.
 */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\t', ' ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\ufeff]/gu, (character) => (character === '\n' ? character : '\ufffd'));
}
