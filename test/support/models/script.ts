// Answers of a scripted model server, and the script that says when.
import assert from 'node:assert/strict';
import type { Seen } from './seen.ts';

export interface ScriptedCall {
  /** Default: an id of the server's own. */
  readonly id?: string;
  readonly name: string;
  /** A string is sent as it is, so that arguments can be invalid JSON. */
  readonly arguments: object | string;
}

/**
 * A part of a text: words, a wait until the test releases the rest, the end of the connection, an error event inside
 * the stream, or bytes that are not of the protocol.
 */
export type Piece =
  | string
  | { readonly hold: Promise<unknown> }
  | { readonly cut: true }
  | { readonly error: string }
  | { readonly raw: string };

export interface Usage {
  readonly input: number;
  readonly output: number;
}

export interface Speech {
  readonly text?: string | readonly Piece[];
  /** Calls of tools after the text; several are parallel calls. */
  readonly calls?: readonly ScriptedCall[];
  /** A structured answer: the JSON text of it, or the call of the tool that the request forces. */
  readonly object?: unknown;
  /** Default: OpenAI's words; `stop` or `tool_calls`. The other servers translate them. */
  readonly finish?: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  readonly usage?: Usage;
}

export type Answer =
  | Speech
  /** A refusal with a body in the form of the interface. */
  | { readonly status: number; readonly retryAfter?: string; readonly message?: string; readonly bytes?: number }
  /** A well-formed answer of at least so many bytes. */
  | { readonly bytes: number }
  /** Embeddings, in the order of the inputs. */
  | { readonly vectors: readonly (readonly number[])[] }
  /** Scores of a reranker, in the order of the documents. */
  | { readonly scores: readonly number[] }
  /** The whole body, whatever it is. */
  | { readonly body: string; readonly contentType?: string };

export interface Step {
  /**
   * Looks at the request. An error that it throws fails the test that owns the server; the model's client gets status
   * 400.
   */
  readonly expect?: (request: Seen) => void;
  readonly answer: Answer;
}

/** Steps in the order of the requests, or a function for requests without an order. */
export type Script = readonly Step[] | ((request: Seen) => Answer | Promise<Answer>);

/** Plays a script. Failures are kept for the end of the test, as the server under test hides them. */
export class Play {
  readonly failures: unknown[] = [];
  readonly #script: Script;
  #at = 0;

  constructor(script: Script) {
    this.#script = script;
  }

  async answerTo(request: Seen): Promise<Answer> {
    try {
      if (typeof this.#script === 'function') return await this.#script(request);
      const step = this.#script[this.#at];
      assert.ok(step !== undefined, `request ${this.#at + 1} to ${request.path} has no step in the script`);
      this.#at += 1;
      step.expect?.(request);
      return step.answer;
    } catch (error) {
      this.failures.push(error);
      return { status: 400, message: 'the request is not the one that the script expects' };
    }
  }

  /** Throws the first failure; then asks that every step was played. */
  end(): void {
    const [first] = this.failures;
    if (first !== undefined) throw first;
    if (typeof this.#script === 'function') return;
    assert.equal(this.#at, this.#script.length, `the script has ${this.#script.length} steps, ${this.#at} were played`);
  }
}

/** A promise that the test resolves: `{ hold: gate.opened }`. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
