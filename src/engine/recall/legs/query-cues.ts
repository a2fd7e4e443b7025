// Computes a turn's flags for a query: speaker, role, time, and whether the turn answers a question.

import { asksForTime, type NamedRoles, namedRoles } from '../../index/context/question-cues.ts';
import { hasTime, isAsking, isOfSelf, ROLES, roleOf, speakerOf, type TurnContext } from '../../index/context/turn.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import type { TextQuery } from '../../index/text/query.ts';
import { languageOfQuestion } from '../../index/text/question-words.ts';
import { TURN_FLAGS } from './text-leg.ts';

/** A turn's code, with the part that numbers its speaker. */
export interface PlacedCode {
  readonly code: number;
  readonly context: TurnContext;
}

/** True for a turn of a conversation: an event with a session or a speaker. */
export function isTurn(code: number, session: number): boolean {
  return code !== 0 && (session !== 0 || speakerOf(code) !== 0 || roleOf(code) !== ROLES.none);
}

/** A shorter word is no name without its s: `is` is not `i`. */
const PLURAL_CHARS_MIN = 4;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Kinds of people by which transcripts number their speakers. */
const KINDS: ReadonlySet<string> = new Set(
  (
    'speaker participant person member guest host interviewer interviewee moderator presenter panelist caller agent ' +
    'customer client user student pupil teacher professor prof phd grad postdoc doctor dr nurse patient therapist ' +
    'counselor judge witness lawyer manager designer engineer developer officer reporter male female man woman'
  ).split(' '),
);

export class QueryCues {
  readonly #analyzer: Analyzer;
  readonly #words: ReadonlySet<string>;
  readonly #spoken: SpokenWords;
  readonly #asksForTime: boolean;
  readonly #roles: NamedRoles;
  readonly #named = new Map<string, boolean>();

  constructor(query: string, text: TextQuery, analyzer: Analyzer) {
    this.#analyzer = analyzer;
    this.#words = new Set(text.terms);
    this.#spoken = new SpokenWords(query);
    this.#asksForTime = asksForTime(query);
    this.#roles = namedRoles(query, languageOfQuestion(query, analyzer));
  }

  /** The flags of a turn; `before` is the previous turn of its session. */
  of(turn: PlacedCode, before: PlacedCode | undefined): number {
    const { code } = turn;
    return (
      (roleOf(code) === ROLES.assistant ? 0 : TURN_FLAGS.notAssistant) |
      (this.#isNamed(turn) ? TURN_FLAGS.named : 0) |
      (this.#asksForTime && hasTime(code) ? TURN_FLAGS.time : 0) |
      (isOfSelf(code) ? TURN_FLAGS.self : 0) |
      (before !== undefined && isAsking(before.code) && hasAnotherSpeaker(before, turn) ? TURN_FLAGS.answers : 0)
    );
  }

  #isNamed({ code, context }: PlacedCode): boolean {
    const speaker = speakerOf(code);
    const name = speaker === 0 ? undefined : context.speaker(speaker);
    // A name in a field tells more than the role: in a talk of several people, all may have the role of a user.
    if ((name === undefined || name.endsWith(':')) && this.#namesRole(roleOf(code))) return true;
    if (name === undefined) return false;
    let named = this.#named.get(name);
    if (named === undefined) {
      named = this.#names(name);
      this.#named.set(name, named);
    }
    return named;
  }

  #namesRole(role: number): boolean {
    return (role === ROLES.user && this.#roles.user) || (role === ROLES.assistant && this.#roles.assistant);
  }

  /**
   * True if the query contains all words of the name, also as a possessive or plural (Annas, the Millers). The first word
   * suffices if a field names the speaker. It does not suffice for a name before a colon in the text: that may be a
   * heading, whose first word occurs in many questions. A letter or number that tells speakers of one kind apart
   * (`Professor B`, `Speaker 2`) may be missing: `the professors` are all of them. `Step 2:` is a heading.
   */
  #names(name: string): boolean {
    const isHeading = name.endsWith(':');
    const words = name.match(WORD) ?? [];
    const isTagged = words.length > 1 && isTag(words.at(-1)!) && (!isHeading || KINDS.has(words[0]!));
    const needed = isTagged && !this.#spoken.hasTag ? words.slice(0, -1) : words;
    if (needed.length === 0) return false;
    const isPartEnough = !isHeading && !isTagged;
    if (isPartEnough && (this.#isAsked(needed[0]!) || needed.some((word) => this.#spoken.hasPlural(word)))) return true;
    return needed.every((word) => this.#isAsked(word));
  }

  #isAsked(word: string): boolean {
    const { terms } = this.#analyzer.analyze(word);
    return terms.length === 0
      ? this.#spoken.has(word)
      : terms.every((term) => this.#words.has(term)) || this.#spoken.hasPlural(word);
  }
}

/** The words of a query as written, in lower case. */
class SpokenWords {
  readonly #words: ReadonlySet<string>;
  /** True if some word is a single letter or a number, so that the query tells speakers of one kind apart. */
  readonly hasTag: boolean;

  constructor(query: string) {
    const words = (query.normalize('NFKC').match(WORD) ?? []).map((word) => word.toLowerCase());
    this.#words = new Set(words);
    this.hasTag = words.some((word) => isTag(word) && word !== 'a' && word !== 'i' && word !== 's');
  }

  has(word: string): boolean {
    return this.#words.has(word) || this.hasPlural(word);
  }

  /** A plural or a possessive without an apostrophe. */
  hasPlural(word: string): boolean {
    if (word.length < PLURAL_CHARS_MIN - 1) return false;
    return (
      this.#words.has(`${word}s`) || this.#words.has(`${word}es`) || this.#words.has(`${word.replace(/y$/, 'i')}es`)
    );
  }
}

function isTag(word: string): boolean {
  return word.length === 1 || /^\p{N}+$/u.test(word);
}

/**
 * True if the previous turn has a known and different speaker. Roles do not count: in a chat with an assistant every
 * turn answers the previous one, and later questions are mostly about the user's turns.
 */
function hasAnotherSpeaker(before: PlacedCode, turn: PlacedCode): boolean {
  const name = nameOf(before);
  return name !== undefined && name !== nameOf(turn);
}

function nameOf({ code, context }: PlacedCode): string | undefined {
  const speaker = speakerOf(code);
  if (speaker === 0) return undefined;
  const name = context.speaker(speaker);
  return name.endsWith(':') ? name.slice(0, -1) : name;
}
