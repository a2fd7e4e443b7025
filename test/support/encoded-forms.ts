// The forms in which a word may lie in a file: a search for its plain bytes alone proves little.

/**
 * Of a word without blanks: text encodings, hex, base64 at each of the three offsets. A word of other letters than those of
 * ASCII has more: decomposed, Latin-1, escaped as in JSON and in URLs.
 */
export function formsOf(word: string): [string, Buffer][] {
  const utf8 = Buffer.from(word);
  const utf16le = Buffer.from(word, 'utf16le');
  const utf16be = Buffer.from(utf16le).swap16();
  const forms: [string, Buffer][] = [
    ['utf-8', utf8],
    ['utf-8 upper case', Buffer.from(word.toUpperCase())],
    ['utf-16le', utf16le],
    ['utf-16be', utf16be],
    ['hex', Buffer.from(utf8.toString('hex'))],
    ['hex upper case', Buffer.from(utf8.toString('hex').toUpperCase())],
  ];
  for (let offset = 0; offset < 3; offset++) {
    // Letters that depend on the neighbouring bytes are left out.
    const encoded = Buffer.concat([Buffer.alloc(offset), utf8]).toString('base64');
    const inner = encoded.slice(offset === 0 ? 0 : 4, Math.floor((offset + utf8.length) / 3) * 4);
    forms.push([`base64 at ${offset}`, Buffer.from(inner)]);
    forms.push([`base64url at ${offset}`, Buffer.from(inner.replaceAll('+', '-').replaceAll('/', '_'))]);
  }
  for (const [form, text] of [
    ['utf-8 decomposed', word.normalize('NFD')],
    ['escaped as in JSON', escaped(word)],
    [
      'escaped as in JSON, upper case',
      escaped(word).replace(/\\u[0-9a-f]{4}/g, (found) => `\\u${found.slice(2).toUpperCase()}`),
    ],
    ['escaped as in URLs', encodeURIComponent(word)],
  ] as const)
    if (text !== word) forms.push([form, Buffer.from(text)]);
  const latin1 = Buffer.from(word, 'latin1');
  if (!latin1.equals(utf8) && latin1.toString('latin1') === word) forms.push(['latin-1', latin1]);
  return forms;
}

function escaped(word: string): string {
  return word.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `form` of each form of the word that the bytes hold. */
export function formsIn(bytes: Buffer, word: string): string[] {
  return formsOf(word)
    .filter(([, pattern]) => bytes.includes(pattern))
    .map(([form]) => form);
}
