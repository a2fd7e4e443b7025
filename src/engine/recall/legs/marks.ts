// What the query finds in a turn beside its words: who speaks, in which role, of when, and whether it answers.

import { asksForTime } from '../../index/surroundings/signs.ts';
import {
  hasTime,
  isAsking,
  isOfSelf,
  ROLES,
  roleOf,
  type Surroundings,
  speakerOf,
} from '../../index/surroundings/turn.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import type { TextQuery } from '../../index/text/query.ts';
import { MARKS } from './text-leg.ts';

/** A turn's code, and the part that its speaker's number is of. */
export interface PlacedCode {
  readonly code: number;
  readonly surroundings: Surroundings;
}

/** A turn of a conversation: an event that belongs to a session, or of whom somebody is said to speak. */
export function isTurn(code: number, session: number): boolean {
  return code !== 0 && (session !== 0 || speakerOf(code) !== 0 || roleOf(code) !== ROLES.none);
}

export class QueryMarks {
  readonly #analyzer: Analyzer;
  readonly #words: ReadonlySet<string>;
  readonly #asksForTime: boolean;
  readonly #named = new Map<string, boolean>();

  constructor(query: string, text: TextQuery, analyzer: Analyzer) {
    this.#analyzer = analyzer;
    this.#words = new Set(text.terms);
    this.#asksForTime = asksForTime(query);
  }

  /** The marks of a turn; `before` is the one before it in its session. */
  of(turn: PlacedCode, before: PlacedCode | undefined): number {
    const { code } = turn;
    return (
      (roleOf(code) === ROLES.assistant ? 0 : MARKS.notAssistant) |
      (this.#isNamed(turn) ? MARKS.named : 0) |
      (this.#asksForTime && hasTime(code) ? MARKS.time : 0) |
      (isOfSelf(code) ? MARKS.self : 0) |
      (before !== undefined && isAsking(before.code) && hasAnotherSpeaker(before, turn) ? MARKS.answers : 0)
    );
  }

  #isNamed({ code, surroundings }: PlacedCode): boolean {
    const speaker = speakerOf(code);
    if (speaker === 0) return false;
    const name = surroundings.speaker(speaker);
    let named = this.#named.get(name);
    if (named === undefined) {
      named = this.#names(name);
      this.#named.set(name, named);
    }
    return named;
  }

  /**
   * The query has all words of the name; the first one will do where a field said who speaks. What stands before a
   * colon in the text may be a heading, which shares its first word with many questions.
   */
  #names(name: string): boolean {
    const words = this.#analyzer.analyze(name).terms;
    if (words.length === 0) return false;
    if (!name.endsWith(':') && this.#words.has(words[0]!)) return true;
    return words.every((word) => this.#words.has(word));
  }
}

/**
 * True when the turn before is said to have a speaker, and another one. Roles do not count: in a chat with an assistant
 * every turn answers the one before, and what the user says is what is asked for later.
 */
function hasAnotherSpeaker(before: PlacedCode, turn: PlacedCode): boolean {
  const name = nameOf(before);
  return name !== undefined && name !== nameOf(turn);
}

function nameOf({ code, surroundings }: PlacedCode): string | undefined {
  const speaker = speakerOf(code);
  if (speaker === 0) return undefined;
  const name = surroundings.speaker(speaker);
  return name.endsWith(':') ? name.slice(0, -1) : name;
}
