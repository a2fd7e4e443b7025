// Which words are names of people, of places or of organisations. A lexicon that takes a third of a second to load, so it
// is loaded when the first text is read.
import { EXTRACT_NAME_LOOKUPS_MAX } from '../../base/limits.ts';

/** What a name names; undefined when the lexicon does not know it. */
export type NameKind = 'person' | 'other' | undefined;

/** Asked with a name as it stands in a text; pure. */
export type Lexicon = (name: string) => NameKind;

let lexicon: Promise<Lexicon> | undefined;

/** The lexicon of English names; the same one at every call. */
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

/** One text's view of the lexicon: it remembers, it learns names that the text itself introduces, and it has a bound. */
export class Names {
  readonly #lexicon: Lexicon;
  readonly #known = new Map<string, NameKind>();
  readonly #introduced = new Set<string>();

  /** True once a name was not looked up, as too many others were. */
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
