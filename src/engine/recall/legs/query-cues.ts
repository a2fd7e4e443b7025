// Computes a turn's flags for a query: speaker, role, time, and whether the turn answers a question.

import { asksForTime } from '../../index/context/cues.ts';
import { hasTime, isAsking, isOfSelf, ROLES, roleOf, speakerOf, type TurnContext } from '../../index/context/turn.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import type { TextQuery } from '../../index/text/query.ts';
import { MARKS } from './text-leg.ts';

/** A turn's code, with the part that numbers its speaker. */
export interface PlacedCode {
  readonly code: number;
  readonly context: TurnContext;
}

/** True for a turn of a conversation: an event with a session or a speaker. */
export function isTurn(code: number, session: number): boolean {
  return code !== 0 && (session !== 0 || speakerOf(code) !== 0 || roleOf(code) !== ROLES.none);
}

export class QueryCues {
  readonly #analyzer: Analyzer;
  readonly #words: ReadonlySet<string>;
  readonly #asksForTime: boolean;
  readonly #named = new Map<string, boolean>();

  constructor(query: string, text: TextQuery, analyzer: Analyzer) {
    this.#analyzer = analyzer;
    this.#words = new Set(text.terms);
    this.#asksForTime = asksForTime(query);
  }

  /** The flags of a turn; `before` is the previous turn of its session. */
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

  #isNamed({ code, context }: PlacedCode): boolean {
    const speaker = speakerOf(code);
    if (speaker === 0) return false;
    const name = context.speaker(speaker);
    let named = this.#named.get(name);
    if (named === undefined) {
      named = this.#names(name);
      this.#named.set(name, named);
    }
    return named;
  }

  /**
   * True if the query contains all words of the name. The first word suffices if a field names the speaker. It does not
   * suffice for a name before a colon in the text: that may be a heading, whose first word occurs in many questions.
   */
  #names(name: string): boolean {
    const words = this.#analyzer.analyze(name).terms;
    if (words.length === 0) return false;
    if (!name.endsWith(':') && this.#words.has(words[0]!)) return true;
    return words.every((word) => this.#words.has(word));
  }
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
