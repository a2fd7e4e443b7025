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

// Loaded on demand: a stemmer takes a millisecond or two to load, and most servers need one language. The packages' own
// types do not reach through `require`, hence the cast.
const STEMMERS: Readonly<Record<string, () => StemmerModule>> = {
  ar: () => require('@orama/stemmers/arabic') as StemmerModule,
  bg: () => require('@orama/stemmers/bulgarian') as StemmerModule,
  da: () => require('@orama/stemmers/danish') as StemmerModule,
  de: () => require('@orama/stemmers/german') as StemmerModule,
  el: () => require('@orama/stemmers/greek') as StemmerModule,
  en: () => ({ stemmer: require('wink-porter2-stemmer') as Stem }),
  es: () => require('@orama/stemmers/spanish') as StemmerModule,
  fi: () => require('@orama/stemmers/finnish') as StemmerModule,
  fr: () => require('@orama/stemmers/french') as StemmerModule,
  ga: () => require('@orama/stemmers/irish') as StemmerModule,
  hi: () => require('@orama/stemmers/indian') as StemmerModule,
  hu: () => require('@orama/stemmers/hungarian') as StemmerModule,
  hy: () => require('@orama/stemmers/armenian') as StemmerModule,
  id: () => require('@orama/stemmers/indonesian') as StemmerModule,
  it: () => require('@orama/stemmers/italian') as StemmerModule,
  lt: () => require('@orama/stemmers/lithuanian') as StemmerModule,
  ne: () => require('@orama/stemmers/nepali') as StemmerModule,
  nl: () => require('@orama/stemmers/dutch') as StemmerModule,
  no: () => require('@orama/stemmers/norwegian') as StemmerModule,
  pt: () => require('@orama/stemmers/portuguese') as StemmerModule,
  ro: () => require('@orama/stemmers/romanian') as StemmerModule,
  ru: () => require('@orama/stemmers/russian') as StemmerModule,
  sa: () => require('@orama/stemmers/sanskrit') as StemmerModule,
  sr: () => require('@orama/stemmers/serbian') as StemmerModule,
  sv: () => require('@orama/stemmers/swedish') as StemmerModule,
  ta: () => require('@orama/stemmers/tamil') as StemmerModule,
  tr: () => require('@orama/stemmers/turkish') as StemmerModule,
  uk: () => require('@orama/stemmers/ukrainian') as StemmerModule,
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
