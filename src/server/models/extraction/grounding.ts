// Decides which facts of a model are kept: those whose quote is in the text, and whose words are in the quote. A text that
// tells the model what to answer can thus bring about only facts that the text states itself.
import {
  EXTRACT_MODEL_CHARS_MAX,
  EXTRACT_OBJECT_CHARS_MAX,
  EXTRACT_RELATION_CHARS_MAX,
  EXTRACT_SUBJECT_CHARS_MAX,
} from '../../../engine/base/limits.ts';
import { type ClaimedFact, SPEAKER } from './request.ts';

export interface GroundedFact {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
  /** Words of the text that date the fact. */
  readonly when?: string | undefined;
}

/** The fact with its names in order; undefined when the text does not state it. `self`: the speaker. */
export function grounded(fact: ClaimedFact, text: string, self: string): GroundedFact | undefined {
  if (fact.quote.length > EXTRACT_MODEL_CHARS_MAX) return undefined;
  const all = spaced(text);
  const quote = spaced(fact.quote);
  if (quote === '' || !all.includes(quote)) return undefined;
  const subject = subjectOf(spaced(fact.subject), all, self);
  const relation = relationOf(fact.relation);
  const object = spaced(fact.object);
  if (subject === undefined || relation === undefined) return undefined;
  if (!isName(object, EXTRACT_OBJECT_CHARS_MAX) || shareIn(object, quote) < OBJECT_SHARE_MIN) return undefined;
  const when = spaced(fact.when);
  return { subject, relation, object, when: when !== '' && quote.includes(when) ? when : undefined };
}

/** Share of an object's words that its quote must have: models put words in order, and leave some out. */
const OBJECT_SHARE_MIN = 0.5;

/** White space is the only difference that a quote may have to its text. */
function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

const SELF = new RegExp(`^(?:the )?(?:${SPEAKER}|user)$|^(?:i|me|myself)$`, 'i');

function subjectOf(name: string, text: string, self: string): string | undefined {
  if (SELF.test(name)) return self;
  return isName(name, EXTRACT_SUBJECT_CHARS_MAX) && shareIn(name, text) > 0 ? name : undefined;
}

function relationOf(words: string): string | undefined {
  const name = words
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  return name === '' || name.length > EXTRACT_RELATION_CHARS_MAX ? undefined : name;
}

/** Control characters and marks that turn the direction of writing do not belong into names. */
function isName(name: string, charsMax: number): boolean {
  return (
    name !== '' && name.length <= charsMax && name.isWellFormed() && !/[\p{Cc}\u202A-\u202E\u2066-\u2069]/u.test(name)
  );
}

/** Share of the words of `name` that occur in `text`, from 0 to 1. */
function shareIn(name: string, text: string): number {
  const words = name.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const within = text.toLowerCase();
  return words.length === 0 ? 0 : words.filter((word) => within.includes(word)).length / words.length;
}
