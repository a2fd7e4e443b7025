// The context of an event as the index stores it (spec: ranking of text, section 2): one number for each grain, with its
// session and its position stored separately.
//
//   code := bit 0 the grain is an event, 1 it asks, 2 it holds a time word, 3 it speaks in the first person,
//           4-6 its role, from 7 on the number of its speaker (0: none) in the part that holds it
//
// So most events take one byte, those of a few speakers two. Anything else has the code 0.

/** The stored properties of an event, without its session. */
export interface Turn {
  readonly asks: boolean;
  readonly holdsTime: boolean;
  readonly speaksOfSelf: boolean;
  readonly role: Role;
  /** Lower-case. A name that was read from the beginning of the text ends in a colon: see `speakerKey` of the store. */
  readonly speaker: string | undefined;
}

/** Role numbers reach the disk. */
export const ROLES = { none: 0, user: 1, assistant: 2, system: 3, tool: 4, other: 5 } as const;
export type Role = (typeof ROLES)[keyof typeof ROLES];

const EVENT = 1;
const ASKS = 2;
const HOLDS_TIME = 4;
const SPEAKS_OF_SELF = 8;
const ROLE_SHIFT = 4;
const ROLE_MASK = 7;
const SPEAKER_SCALE = 128;
/** Speakers of a part; further ones are stored as none. A code of 32 bits could name no more. */
export const SPEAKERS_MAX = 2 ** 24;

/** The code of an event whose speaker has the number `speaker`, 0 for none. */
export function turnCode(turn: Turn, speaker: number): number {
  return (
    EVENT +
    (turn.asks ? ASKS : 0) +
    (turn.holdsTime ? HOLDS_TIME : 0) +
    (turn.speaksOfSelf ? SPEAKS_OF_SELF : 0) +
    turn.role * (1 << ROLE_SHIFT) +
    speaker * SPEAKER_SCALE
  );
}

export function speakerOf(code: number): number {
  return Math.floor(code / SPEAKER_SCALE);
}

/** The same code with another number for its speaker. */
export function withSpeaker(code: number, speaker: number): number {
  return (code % SPEAKER_SCALE) + speaker * SPEAKER_SCALE;
}

export function roleOf(code: number): Role {
  // Three bits that `turnCode` filled with a role.
  return ((code >>> ROLE_SHIFT) & ROLE_MASK) as Role;
}

export const isAsking = (code: number): boolean => (code & ASKS) !== 0;
export const hasTime = (code: number): boolean => (code & HOLDS_TIME) !== 0;
export const isOfSelf = (code: number): boolean => (code & SPEAKS_OF_SELF) !== 0;

/** The context of a part's docs. Views: read-only, valid until the next publish or merge. */
export interface TurnContext {
  /** Codes by doc, see above. Docs beyond its end have the code 0. */
  readonly codes: Uint32Array;
  /** Session numbers by doc, 0 for none. Docs beyond its end have none. */
  readonly sessions: Uint32Array;
  /** Number of sessions if they are numbered without gaps from 1; undefined in a tail, whose numbers have gaps. */
  readonly sessionCount: number | undefined;
  /** The events of a session, ordered by creation, then arrival. */
  turns(session: number): Uint32Array;
  sessionName(session: number): string;
  /** The number of the named session in this part, 0 for none. */
  sessionNumber(name: string): number;
  /** The speaker with that number, from 1, as in `Turn.speaker`. */
  speaker(speaker: number): string;
}

/** Sorts the docs of a session by time, then by arrival, in place. */
export function sortTurns(docs: Uint32Array, createdAtMs: Float64Array): void {
  for (let i = 1; i < docs.length; i++) {
    if (createdAtMs[docs[i]!]! >= createdAtMs[docs[i - 1]!]!) continue;
    docs.sort((a, b) => createdAtMs[a]! - createdAtMs[b]! || a - b);
    return;
  }
}
