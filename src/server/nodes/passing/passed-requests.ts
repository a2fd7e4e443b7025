// The side of the owner of the control log: answers requests that other nodes pass on, by the handlers of its own listeners. The
// caller's address and headers are those that the other node saw.
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError, type WireError } from '../../../engine/base/errors.ts';
import { isSettledWithin } from '../../../engine/base/settled-within.ts';
import type { Channel, ChannelSend } from '../../../shards/nodes/link/channel.ts';
import type { ByteBudget, Share } from '../../byte-budget.ts';
import type { GrpcAnswer } from '../../grpc/front.ts';
import { firstHeader, joinedHeader, onlyHeader } from '../../http/header-list.ts';
import { checkHeaders, type HttpRequest, RequestAborted, type ResponseHeaders, type ResponseStream } from '../../http/listener.ts'; // biome-ignore format: one row
import type { Logger } from '../../log.ts';
import { type AnswerHead, type GrpcHead, type HttpHead, type PassedKind, passedHead, type RequestHead, readPassed } from './messages.ts'; // biome-ignore format: one row
import type { Handlers } from './passer.ts';
import { PieceSender } from './pieces.ts';

type Say = (kind: PassedKind, ...parts: readonly Uint8Array[]) => void;

export class PassedRequests {
  readonly #log: Pick<Logger, 'error'>;
  #handlers: Handlers | undefined;
  readonly #nodes = new Set<ChannelSend>();
  #running = 0;
  #idle: (() => void) | undefined;

  constructor(log: Pick<Logger, 'error'>) {
    this.#log = log;
  }

  /** Requests are answered by these from now on. */
  serve(handlers: Handlers): void {
    this.#handlers = handlers;
    for (const send of this.#nodes) send('passed', passedHead(0, 'serving'));
  }

  /** Refuses further requests, which wait at their nodes, and waits for those under way. */
  async drain(deadlineMs: number): Promise<void> {
    this.#handlers = undefined;
    if (this.#running === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    await isSettledWithin(idle, deadlineMs);
  }

  /** A node has connected. */
  open(send: ChannelSend): Channel {
    const requests = new Map<number, Incoming>();
    return {
      receive: (_, bytes) => {
        const message = readPassed(bytes);
        if (message === undefined) return;
        this.#nodes.add(send);
        const { id, kind, body } = message;
        const say: Say = (to, ...parts) => send('passed', passedHead(id, to), ...parts);
        if (kind !== 'open') requests.get(id)?.receive(kind, body);
        else if (this.#handlers === undefined) say('refused');
        else {
          const head = JSON.parse(body.toString()) as RequestHead; // of a node of this deployment
          const incoming = new Incoming(say, this.#handlers.requests);
          requests.set(id, incoming);
          void this.#answer(this.#handlers, head, incoming).finally(() => requests.delete(id));
        }
      },
      ended: () => {
        this.#nodes.delete(send);
        for (const incoming of requests.values()) incoming.abort();
      },
    };
  }

  async #answer(handlers: Handlers, head: RequestHead, incoming: Incoming): Promise<void> {
    this.#running += 1;
    try {
      if (head.face === 'http') await handlers.http(new PassedHttp(head, incoming));
      else await answerGrpc(handlers, head, incoming);
      incoming.handled();
      await incoming.over;
    } catch (error) {
      if (error instanceof RequestAborted) return;
      this.#log.error({ err: error }, 'error in a request that another node passed on');
      incoming.fail(head.face);
    } finally {
      incoming.handled();
      this.#running -= 1;
      if (this.#running === 0) this.#idle?.();
    }
  }
}

/** A request's messages: its body, which is asked for, and its answer. */
class Incoming {
  readonly say: Say;
  readonly controller = new AbortController();
  /** Resolves when the answer was sent, or the caller has gone. */
  readonly over: Promise<void>;
  #end: () => void = () => undefined;
  readonly #sender: PieceSender;
  readonly #share: Share;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Set while the body is awaited. */
  #body: { readonly resolve: (bytes: Uint8Array) => void; readonly reject: (error: Error) => void } | undefined;
  #hasAnswer = false;
  #isOver = false;

  constructor(say: Say, requests: ByteBudget) {
    this.say = say;
    this.#sender = new PieceSender(say);
    this.#share = requests.share((reason) => this.#refuseBody(reason));
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get isGone(): boolean {
    return this.controller.signal.aborted;
  }

  receive(kind: PassedKind, bytes: Buffer): void {
    if (kind === 'more') this.#sender.more();
    else if (kind === 'aborted') this.abort();
    else if (kind === 'unread') this.#refuseBody(EngineError.fromWire(JSON.parse(bytes.toString()) as WireError));
    else if (kind === 'piece' || kind === 'last') this.#takePiece(bytes, kind === 'last');
  }

  /** Nothing more is asked for of a body that was refused. */
  #takePiece(bytes: Buffer, isLast: boolean): void {
    const body = this.#body;
    if (body === undefined) return;
    this.#pieces.push(bytes);
    this.#heldBytes += bytes.length;
    try {
      this.#share.hold(this.#heldBytes);
    } catch (error) {
      this.#refuseBody(error as Error); // it throws only errors
    }
    // Holding more may have dropped this body.
    if (this.#body !== body) return;
    if (!isLast) {
      this.say('more');
      return;
    }
    this.#share.settle();
    this.#body = undefined;
    body.resolve(Buffer.concat(this.#pieces));
    this.#pieces = [];
  }

  #refuseBody(reason: Error): void {
    this.#body?.reject(reason);
    this.handled();
  }

  /** Its body is not needed any more. */
  handled(): void {
    this.#body = undefined;
    this.#pieces = [];
    this.#share.release();
  }

  /** The body, at most so many bytes. */
  body(bytesMax: number): Promise<Uint8Array> {
    if (this.isGone) return Promise.reject(new RequestAborted());
    const wanted = Buffer.alloc(4);
    wanted.writeUInt32LE(bytesMax);
    return new Promise((resolve, reject) => {
      this.#body = { resolve, reject };
      this.say('want', wanted);
    });
  }

  /** The caller, or the node that it came to, has gone. */
  abort(): void {
    if (this.#isOver) return;
    this.controller.abort(new RequestAborted());
    this.#refuseBody(new RequestAborted());
    this.#finish();
  }

  begin(head: AnswerHead): void {
    this.#hasAnswer = true;
    if (!this.isGone) this.say('answer', Buffer.from(JSON.stringify(head)));
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.isGone ? Promise.reject(new RequestAborted()) : this.#sender.write(bytes);
  }

  end(bytes?: Uint8Array): void {
    this.#sender.finish(bytes).then(
      () => this.#finish(),
      () => this.#finish(),
    );
  }

  cut(): void {
    this.say('cut');
    this.abort();
  }

  /** A bug: an answer that has not begun is a bare error. */
  fail(face: RequestHead['face']): void {
    if (this.#hasAnswer) this.cut();
    else {
      const error = new EngineError('SYS-E001', 'internal error');
      this.begin(face === 'http' ? { status: 500, headers: [] } : { headers: [], error: error.toWire() });
      this.end();
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sender.end();
    this.#end();
  }
}

class PassedHttp implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly headerList: readonly string[];
  readonly isKnownPage: boolean;
  readonly #head: HttpHead;
  readonly #incoming: Incoming;

  constructor(head: HttpHead, incoming: Incoming) {
    this.method = head.method;
    this.path = head.path;
    this.query = head.query;
    this.remoteAddress = head.remoteAddress;
    this.headerList = head.headers;
    this.isKnownPage = head.isKnownPage === true;
    this.#head = head;
    this.#incoming = incoming;
  }

  get aborted(): AbortSignal {
    return this.#incoming.controller.signal;
  }

  /** As the listener that took it says; it throws for several Host headers, as there. */
  get authority(): string | undefined {
    return this.#head.authority ?? this.only('host');
  }

  header(name: string): string | undefined {
    return firstHeader(this.headerList, name);
  }

  only(name: string): string | undefined {
    return onlyHeader(this.headerList, name);
  }

  joined(name: string): string | undefined {
    return joinedHeader(this.headerList, name);
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return this.#incoming.body(bytesMax);
  }

  respond(status: number, headers: ResponseHeaders, body: string | Uint8Array = ''): void {
    checkHeaders(headers);
    this.#incoming.begin({ status, headers });
    this.#incoming.end(Buffer.from(body as Uint8Array)); // both forms have their Buffer
  }

  whenOver(over: () => void): void {
    void this.#incoming.over.then(over);
  }

  cut(): void {
    this.#incoming.cut();
  }

  stream(status: number, headers: ResponseHeaders): ResponseStream {
    checkHeaders(headers);
    const incoming = this.#incoming;
    incoming.begin({ status, headers, isStream: true });
    return {
      unreportedBytes: 0,
      write: (chunk) => incoming.write(Buffer.from(chunk as Uint8Array)), // both forms have their Buffer
      end: () => incoming.end(),
    };
  }
}

async function answerGrpc(handlers: Handlers, head: GrpcHead, incoming: Incoming): Promise<void> {
  const answer: GrpcAnswer = await grpcAnswerOf(handlers, head, incoming).catch((error: unknown) => {
    if (error instanceof EngineError) return { error };
    throw error;
  });
  const headers = Object.entries(answer.headers ?? {});
  if ('error' in answer) {
    incoming.begin({ headers, error: answer.error.toWire() });
    incoming.end();
  } else {
    incoming.begin({ headers });
    incoming.end(answer.bytes);
  }
}

async function grpcAnswerOf({ grpc }: Handlers, head: GrpcHead, incoming: Incoming): Promise<GrpcAnswer> {
  const { service, method, remoteAddress, headers: headerList, leftMs } = head;
  const own = (name: string): boolean => !name.endsWith('-bin');
  return grpc({
    service,
    method,
    remoteAddress,
    headerList,
    bytes: Buffer.from(await incoming.body(0xffff_ffff)),
    deadlineMs: leftMs === undefined ? undefined : steadyMs(systemClock) + leftMs,
    aborted: incoming.controller.signal,
    identity: undefined,
    header: (name) => (own(name) ? firstHeader(headerList, name) : undefined),
    only: (name) => (own(name) ? onlyHeader(headerList, name) : undefined),
    joined: (name) => (own(name) ? joinedHeader(headerList, name) : undefined),
  });
}
