// The rules of a language for analysis: its stemmer, its stop words, and its use of the apostrophe.
import { createRequire } from 'node:module';
import { stopWords } from './stopwords.ts';

export interface Language {
  /** ISO 639-1 code, or `und` for an unknown language. */
  readonly code: string;
  /** Name of the stemmer; it is part of the stamp of an index. */
  readonly stemmerName: string;
  /** A lower-case word to its stem. */
  readonly stem: (word: string) => string;
  readonly stopWords: ReadonlySet<string>;
  /** True when an inner apostrophe joins (don't), false when it ends an elided word (l'heure). */
  readonly apostropheJoins: boolean;
}

const require = createRequire(import.meta.url);
type Stem = (word: string) => string;
interface StemmerModule {
  readonly stemmer: Stem;
}

// Loaded on demand: a stemmer takes a millisecond or two to load, and most servers need one language. `require` tells
// nothing of the types of a package; `StemmerModule` is what is used of it.
const STEMMERS: Readonly<Record<string, () => StemmerModule>> = {
  ar: () => require('@orama/stemmers/arabic'),
  bg: () => require('@orama/stemmers/bulgarian'),
  da: () => require('@orama/stemmers/danish'),
  de: () => require('@orama/stemmers/german'),
  el: () => require('@orama/stemmers/greek'),
  en: () => ({ stemmer: require('wink-porter2-stemmer') }),
  es: () => require('@orama/stemmers/spanish'),
  fi: () => require('@orama/stemmers/finnish'),
  fr: () => require('@orama/stemmers/french'),
  ga: () => require('@orama/stemmers/irish'),
  hi: () => require('@orama/stemmers/indian'),
  hu: () => require('@orama/stemmers/hungarian'),
  hy: () => require('@orama/stemmers/armenian'),
  id: () => require('@orama/stemmers/indonesian'),
  it: () => require('@orama/stemmers/italian'),
  lt: () => require('@orama/stemmers/lithuanian'),
  ne: () => require('@orama/stemmers/nepali'),
  nl: () => require('@orama/stemmers/dutch'),
  no: () => require('@orama/stemmers/norwegian'),
  pt: () => require('@orama/stemmers/portuguese'),
  ro: () => require('@orama/stemmers/romanian'),
  ru: () => require('@orama/stemmers/russian'),
  sa: () => require('@orama/stemmers/sanskrit'),
  sr: () => require('@orama/stemmers/serbian'),
  sv: () => require('@orama/stemmers/swedish'),
  ta: () => require('@orama/stemmers/tamil'),
  tr: () => require('@orama/stemmers/turkish'),
  uk: () => require('@orama/stemmers/ukrainian'),
};

/** Codes that have a stemmer. In other languages words are indexed as they are. */
export const STEMMED_LANGUAGES: readonly string[] = Object.keys(STEMMERS);

const ELIDING = new Set(['fr', 'it', 'ga', 'ca']);
const SAME_AS: Readonly<Record<string, string>> = { nb: 'no', nn: 'no' };

/** The ISO 639-1 code of a language tag (`pt-BR` -> `pt`), or `und`. */
export function languageCode(tag: string): string {
  const code = /^\s*([a-z]{2,3})(?:[-_]|\s*$)/i.exec(tag)?.[1]?.toLowerCase();
  if (code === undefined) return 'und';
  return SAME_AS[code] ?? code;
}

/** The rules for the language with that code (see `languageCode`). Loads its stemmer. */
export function language(code: string): Language {
  const load = Object.hasOwn(STEMMERS, code) ? STEMMERS[code] : undefined;
  return {
    code,
    stemmerName: code === 'en' ? 'porter2' : load === undefined ? 'words' : 'snowball',
    stem: load === undefined ? (word) => word : load().stemmer,
    stopWords: stopWords(code),
    apostropheJoins: !ELIDING.has(code),
  };
}
