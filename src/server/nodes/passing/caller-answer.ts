// The answer of another node on its way to the caller: gathered, or sent on as it comes. It counts in the budget for answers until
// the caller has read it.
import { ANSWER_SHARED_BYTES_MIN } from '../../../engine/base/limits.ts';
import type { Share } from '../../byte-budget.ts';
import type { HttpRequest, ResponseStream } from '../../http/listener.ts';
import type { PassedOn } from '../../http.ts';
import type { AnswerHead } from './messages.ts';

export class CallerAnswer {
  readonly #request: HttpRequest;
  readonly #share: Share;
  #head: AnswerHead | undefined;
  #stream: ResponseStream | undefined;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #isWhole = false;

  /** `dropped` is called when there is no room for it any more, after the caller was cut off. */
  constructor({ request, answers }: PassedOn, dropped: () => void) {
    this.#request = request;
    this.#share = answers.share(() => {
      request.cut();
      dropped();
    });
  }

  /** True once the caller has a part of it, so that no other answer can be sent. */
  get hasBegun(): boolean {
    return this.#stream !== undefined;
  }

  begin(head: AnswerHead): void {
    this.#head = head;
    if (head.isStream === true) this.#stream = this.#request.stream(head.status ?? 500, head.headers);
  }

  /** Resolves when the next piece may come. Rejects with LIM-E001 without room for it, and as ResponseStream does. */
  async take(piece: Buffer): Promise<void> {
    if (this.#stream === undefined) {
      this.#pieces.push(piece);
      this.#bytes += piece.length;
      // Short ones do not count on the other node either.
      if (this.#bytes > ANSWER_SHARED_BYTES_MIN) this.#share.hold(this.#bytes);
      return;
    }
    this.#share.hold(piece.length);
    await this.#stream.write(piece);
    this.#share.release();
  }

  /** All of it has been taken. */
  finish(): void {
    if (this.#stream !== undefined) this.#stream.end();
    else if (this.#head !== undefined) {
      this.#isWhole = true;
      this.#request.respond(this.#head.status ?? 500, this.#head.headers, Buffer.concat(this.#pieces));
      this.#request.whenOver(() => this.#share.release());
    }
  }

  /** Nothing more comes. */
  leave(): void {
    if (!this.#isWhole) this.#share.release();
  }
}
