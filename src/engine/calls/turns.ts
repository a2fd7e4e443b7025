// Calls on the turns of harnesses. A turn is a record of the partition that holds its conversation's grains: each change
// of a turn and the grains that belong to it are one transaction.
import type { JsonObject } from '../grain/api/json-value.ts';
import type { Turn, TurnEvent } from '../turn/turn.ts';
import type { RowsOf } from './row.ts';

export interface NewTurn {
  readonly sessionId: string;
  readonly slug: string;
  readonly conversationId: string;
  readonly userId?: string | undefined;
  readonly namespace: string;
  readonly server: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly clientTools?: string | undefined;
}

/** A change of a turn, with the grains that it writes. Fields are those of the service. */
export interface TurnChange {
  readonly sessionId: string;
  /** Names the partition, as the grains' session does. */
  readonly conversationId: string;
  /** The version that the change builds on; absent: whatever there is. */
  readonly version?: number | undefined;
  readonly event: TurnEvent;
  /** For `answered`: an event with what the model said, and an action for each call. */
  readonly said?: JsonObject | undefined;
  readonly actions?: readonly JsonObject[] | undefined;
  /** For `resolved` and `resumed`: the fields that each call's action gets, in the order of the event. */
  readonly outputs?: readonly JsonObject[] | undefined;
  /** For `completed`: the event with the answer. */
  readonly answer?: JsonObject | undefined;
}

export interface ConversationView {
  readonly conversationId: string;
  readonly slug: string;
  readonly userId?: string | undefined;
  readonly namespace: string;
  readonly turnCount: number;
  /** Hash of the event with its first message. */
  readonly firstEvent: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A place in a list of conversations, newest first. */
export interface ConversationPlace {
  readonly updatedAtMs: number;
  /** Its token in the state. */
  readonly token: string;
}

export interface TurnCalls {
  /**
   * Begins a turn and stores its message. Throws HRN-E010 while another turn of the conversation is not over. A repeat
   * under the same idempotency key names the first one and has no turn.
   */
  beginTurn: {
    input: { readonly turn: NewTurn; readonly message: JsonObject };
    output: { readonly sessionId: string; readonly turn?: Turn | undefined; readonly warnings: readonly string[] };
  };
  /** Throws HRN-E004, HRN-E005 where its state does not allow the change, HRN-E006, HRN-E010 for another version. */
  changeTurn: { input: TurnChange; output: { readonly turn: Turn; readonly warnings: readonly string[] } };
  /**
   * A change by the event `resumed`. A repeat under the same idempotency key changes nothing and has no turn.
   */
  resumeTurn: {
    input: TurnChange;
    output: { readonly sessionId: string; readonly turn?: Turn | undefined; readonly warnings: readonly string[] };
  };
  /** Throws HRN-E004. */
  turn: { input: { readonly sessionId: string }; output: { readonly turn: Turn } };
  /** Newest first. */
  conversations: {
    input: { readonly slug: string; readonly limit: number; readonly after?: ConversationPlace | undefined };
    output: {
      readonly conversations: readonly (ConversationView & { readonly token: string })[];
      /** Null for a caller that sees a part of the memory. */
      readonly total: number | null;
      readonly more: boolean;
    };
  };
  /**
   * Ends the turns whose time to answer has passed, and interrupts those that another run of the server left running.
   * `nextMs`: when the next one expires.
   */
  settleTurns: {
    input: { readonly server: string };
    output: { readonly settled: number; readonly nextMs?: number | undefined };
  };
}

const OPEN = { open: 'shows hashes and ids, and only of turns in namespaces that the caller may view' };

export const TURN_ROWS = {
  beginTurn: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: 'writes',
    access: 'editor',
  },
  changeTurn: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'again',
    gather: 'own',
    governed: { nothing: 'each grain that it writes is decided like any other' },
    access: { open: 'asks for editor of the namespace of the turn' },
  },
  resumeTurn: {
    kind: 'write',
    by: 'plan',
    changes: 'grains',
    retry: 'keyed',
    gather: 'own',
    governed: { nothing: 'each grain that it writes is decided like any other' },
    access: { open: 'asks for editor of the namespace of the turn' },
  },
  turn: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'own',
    governed: { nothing: 'hashes and ids; it is refused for a turn whose message may not be read' },
    access: OPEN,
  },
  conversations: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'hashes and ids, of conversations whose messages may be read' },
    access: OPEN,
  },
  settleTurns: {
    kind: 'write',
    by: 'own',
    changes: 'grains',
    retry: 'same',
    gather: 'merged',
    governed: { nothing: 'the server ends turns whose time has passed' },
    access: { open: 'asked by the server itself' },
  },
} as const satisfies RowsOf<TurnCalls>;
