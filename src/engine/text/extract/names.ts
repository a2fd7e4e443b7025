// Recognises names of people, places and organisations. The lexicon takes a third of a second to load, so it is loaded
// with the first text.
import { EXTRACT_NAME_LOOKUPS_MAX } from '../../base/limits.ts';

/** The kind of thing that a name refers to; undefined when the lexicon does not know it. */
export type NameKind = 'person' | 'other' | undefined;

/** Looks up a name as written in a text; pure. */
export type Lexicon = (name: string) => NameKind;

let lexicon: Promise<Lexicon> | undefined;

/** The lexicon of English names. Every call returns the same one. */
export function loadLexicon(): Promise<Lexicon> {
  lexicon ??= import('compromise').then(({ default: nlp }) => {
    return (name) => {
      const doc = nlp(name);
      if (doc.people().out('text').trim() === name) return 'person';
      return doc.has('^(#Place|#Organization)+$') ? 'other' : undefined;
    };
  });
  return lexicon;
}

/**
 * One text's view of the lexicon: it caches look-ups, learns names that the text introduces, and limits the number of
 * look-ups.
 */
export class Names {
  readonly #lexicon: Lexicon;
  readonly #known = new Map<string, NameKind>();
  readonly #introduced = new Set<string>();

  /** True once a name was not looked up because of the limit. */
  isFull = false;

  constructor(lexicon: Lexicon) {
    this.#lexicon = lexicon;
  }

  /** "my son Leo": from here on Leo is a person. */
  introduce(name: string): void {
    this.#introduced.add(name);
  }

  isPerson(name: string): boolean {
    return this.#introduced.has(name) || this.#kindOf(name) === 'person';
  }

  isKnown(name: string): boolean {
    return this.#introduced.has(name) || this.#kindOf(name) !== undefined;
  }

  #kindOf(name: string): NameKind {
    if (this.#known.has(name)) return this.#known.get(name);
    if (this.#known.size >= EXTRACT_NAME_LOOKUPS_MAX) {
      this.isFull = true;
      return undefined;
    }
    const kind = this.#lexicon(name);
    this.#known.set(name, kind);
    return kind;
  }
}
