// A rough phonetic key for Latin script: consonants that sound alike share a letter, and vowels count only at the
// beginning. It is coarse because matches are compared with the spelling afterwards.

const RULES: readonly (readonly [RegExp, string])[] = [
  [/^(?:kn|gn|pn)/, 'n'],
  [/^wr/, 'r'],
  [/^ps/, 's'],
  [/^x/, 's'],
  [/tsch|tch|sch|sh|ch|cz|sz/g, 'x'],
  [/ph|pf|v/g, 'f'],
  [/th|d/g, 't'],
  [/dg|g(?=[eiy])|j/g, 'j'],
  [/gh/g, ''],
  [/c(?=[eiy])|z/g, 's'],
  [/ck|c|q|g/g, 'k'],
  [/x(?=s)/g, ''],
  [/b/g, 'p'],
  [/^[aeiouy]+/, 'a'],
];

/** A key that similar-sounding words share; '' for a word without Latin letters. */
export function phoneticKey(word: string): string {
  let key = word
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z]/g, '');
  for (const [pattern, sound] of RULES) key = key.replace(pattern, sound);
  return (key.slice(0, 1) + key.slice(1).replace(/[aeiouywh]/g, '')).replace(/(.)\1+/g, '$1');
}
