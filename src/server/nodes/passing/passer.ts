// The side of a node that passes requests on: each one goes to the owner of the control log over the connection between the two
// nodes, and its answer comes back as it is made. Requests wait while there is no owner.
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError, type WireError } from '../../../engine/base/errors.ts';
import { LOST_REPEATS_MAX, PASS_RETRY_MS, PASS_WAIT_MS, PASSED_MAX } from '../../../engine/base/limits.ts';
import type { Channel, ChannelSend } from '../../../shards/nodes/link/channel.ts';
import { requestIdOf } from '../../arrival.ts';
import type { ByteBudget } from '../../byte-budget.ts';
import type { GrpcAnswer, GrpcCall, GrpcHandler } from '../../grpc/front.ts';
import { respondError } from '../../http/errors.ts';
import { authorityOf, type HttpHandler } from '../../http/listener.ts';
import type { PassedOn } from '../../http.ts';
import { CallerAnswer } from './caller-answer.ts';
import { type AnswerHead, type PassedKind, passedHead, type RequestHead, readPassed } from './messages.ts';
import { PieceSender } from './pieces.ts';
import { ReadRequest } from './read-request.ts';

/** Answers all requests. */
export interface Handlers {
  readonly http: HttpHandler;
  readonly grpc: GrpcHandler;
  /** Budget of bodies that come from another node. */
  readonly requests: ByteBudget;
}

/** A request that is being passed on, as the connection sees it. */
interface Passed {
  readonly receive: (kind: PassedKind, body: Buffer) => void;
  /** The connection has ended. */
  readonly lost: () => void;
  /** The caller has gone. */
  readonly gone: () => void;
}

/** A connection to the leader, or to a node that was the leader. */
interface Connection {
  readonly send: ChannelSend;
  readonly running: Map<number, Passed>;
  /** It takes no requests at the moment. */
  refuses: boolean;
}

export interface PasserOptions {
  /** The handlers of this node while it runs the server itself. */
  readonly own: () => Handlers | undefined;
  readonly waitMs?: number | undefined;
}

/** `refused`: nothing ran. `lost`: it may have run, and the caller has nothing of an answer. */
type Outcome = 'answered' | 'refused' | 'lost';

/** The ways to answer a request. */
interface Attempt {
  readonly own: (handlers: Handlers) => Promise<void>;
  readonly pass: (connection: Connection) => Promise<Outcome>;
  readonly refuse: (error: EngineError) => void;
  /** It does no harm when it runs twice. */
  readonly mayRepeat: boolean;
  readonly aborted: AbortSignal;
}

interface HttpWays {
  /** The body, of at most so many bytes. It is read once, and kept for a repetition. */
  readonly bodyOf: (bytesMax: number) => Promise<Uint8Array>;
  readonly refuse: (error: EngineError) => void;
}

const NOBODY = 'no node runs the server at the moment: another one is taking over the control log';
const BROKEN = 'the connection to the leader broke: the request may or may not have run';

/** The way to the leader. */
export interface PassTarget {
  /** A connection to it has opened: requests go over it from now on, unless there is another target. */
  readonly open: (send: ChannelSend) => Channel;
  /** Sends nothing more there. Resolves when its requests are answered, at most after `ms`. */
  readonly leave: (ms: number) => Promise<void>;
}

export class Passer {
  readonly #options: PasserOptions;
  #target: { connection: Connection | undefined } | undefined;
  #next = 0;
  /** Requests that wait for an owner, or for its answer. */
  #unanswered = 0;
  /** Requests that were passed on to another node. */
  count = 0;

  constructor(options: PasserOptions) {
    this.#options = options;
  }

  /** Requests go there from now on. Connections of earlier targets answer what they have, even when they open again. */
  target(): PassTarget {
    const target: { connection: Connection | undefined } = { connection: undefined };
    this.#target = target;
    return {
      open: (send) => {
        const connection: Connection = { send, running: new Map(), refuses: false };
        target.connection = connection;
        return {
          receive: (kind, bytes) => receivePassed(connection, kind, bytes),
          ended: () => {
            if (target.connection === connection) target.connection = undefined;
            for (const passed of [...connection.running.values()]) passed.lost();
          },
        };
      },
      leave: async (ms) => {
        if (this.#target === target) this.#target = undefined;
        const untilMs = performance.now() + ms;
        while ((target.connection?.running.size ?? 0) > 0 && performance.now() < untilMs)
          await new Promise((resolve) => setTimeout(resolve, PASS_RETRY_MS));
      },
    };
  }

  /** Answers the request. Its body is asked for at most once. */
  async http(passed: PassedOn): Promise<void> {
    const { request, always, mayRepeat } = passed;
    let { taken } = passed;
    const bodyOf = async (bytesMax: number): Promise<Uint8Array> => {
      taken ??= request.body(bytesMax);
      const bytes = await taken;
      if (bytes.length > bytesMax) throw new EngineError('LIM-E003', `the body has more than ${bytesMax} bytes`);
      return bytes;
    };
    const refuse = (error: EngineError): void => {
      const id = requestIdOf(request.header('x-request-id'));
      respondError(request, error, id, [...always, ['x-request-id', id], ['retry-after', '1']]);
    };
    await this.#attempt({
      own: ({ http }) => Promise.resolve(http(taken === undefined ? request : new ReadRequest(request, taken))),
      pass: (connection) => this.#passHttp(passed, { bodyOf, refuse }, connection),
      refuse,
      mayRepeat,
      aborted: request.aborted,
    });
  }

  /** Resolves to the answer of the owner. `mayRepeat`: the call does no harm when it runs twice. */
  async grpc(call: GrpcCall, mayRepeat: boolean): Promise<GrpcAnswer> {
    let answer: GrpcAnswer | undefined;
    const refuse = (error: EngineError): void => {
      answer = { error, headers: { 'x-request-id': requestIdOf(call.header('x-request-id')), 'retry-after': '1' } };
    };
    await this.#attempt({
      own: async ({ grpc }) => {
        answer = await grpc(call);
      },
      pass: async (connection) => {
        const given = await this.#passGrpc(call, connection);
        if (given === 'refused' || given === 'lost') return given;
        answer = given;
        return 'answered';
      },
      refuse,
      mayRepeat,
      aborted: call.aborted,
    });
    return answer ?? { error: new EngineError('SYS-E005', 'the caller has disconnected') };
  }

  /** Tries again while nothing ran, and a few times where that does no harm. */
  async #attempt(how: Attempt): Promise<void> {
    if (this.#unanswered >= PASSED_MAX) {
      how.refuse(new EngineError('LIM-E001', 'too many requests wait for the leader'));
      return;
    }
    this.#unanswered += 1;
    try {
      await this.#tryOn(how);
    } finally {
      this.#unanswered -= 1;
    }
  }

  async #tryOn(how: Attempt): Promise<void> {
    const waitMs = this.#options.waitMs ?? PASS_WAIT_MS;
    let untilMs = performance.now() + waitMs;
    let losses = 0;
    while (!how.aborted.aborted) {
      const own = this.#options.own();
      if (own !== undefined) return how.own(own);
      const connection = this.#target?.connection;
      if (connection?.refuses === false) {
        const outcome = await how.pass(connection);
        if (outcome === 'answered') {
          this.count += 1;
          return;
        }
        if (outcome === 'lost') {
          losses += 1;
          untilMs = performance.now() + (how.mayRepeat && losses <= LOST_REPEATS_MAX ? waitMs : 0);
        }
      }
      if (performance.now() >= untilMs) {
        how.refuse(new EngineError('STO-E002', losses === 0 ? NOBODY : BROKEN));
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PASS_RETRY_MS));
    }
  }

  #begin({ send, running }: Connection, head: RequestHead, aborted: AbortSignal) {
    this.#next = (this.#next + 1) % 0x1_0000_0000;
    const id = this.#next;
    const say = (kind: PassedKind, ...parts: readonly Uint8Array[]): void => send('passed', passedHead(id, kind), ...parts); // biome-ignore format: one row
    const body = new PieceSender(say);
    const leave = (): void => {
      say('aborted');
      running.get(id)?.gone();
    };
    const start = (passed: Passed): void => {
      running.set(id, passed);
      aborted.addEventListener('abort', leave, { once: true });
      say('open', Buffer.from(JSON.stringify(head)));
    };
    const end = (): void => {
      running.delete(id);
      aborted.removeEventListener('abort', leave);
      body.end();
    };
    return { say, body, start, end };
  }

  /** The body is sent when the owner asks for it, so a caller without rights is refused before. */
  #passHttp(passed: PassedOn, { bodyOf, refuse }: HttpWays, connection: Connection): Promise<Outcome> {
    const { request, isKnownPage } = passed;
    const { method, path, query, remoteAddress, headerList: headers } = request;
    const head: RequestHead = {
      face: 'http',
      method,
      path,
      query,
      // Two Host headers are refused by the owner, which reads them too.
      authority: authorityOf(request),
      remoteAddress,
      headers,
      isKnownPage,
    };
    const { say, body, start, end } = this.#begin(connection, head, request.aborted);
    return new Promise((resolve) => {
      let isOver = false;
      const finish = (how: Outcome): void => {
        if (isOver) return;
        isOver = true;
        end();
        answer.leave();
        resolve(how);
      };
      const answer = new CallerAnswer(passed, () => {
        say('aborted');
        finish('answered');
      });
      const sendBody = async (bytesMax: number): Promise<void> => {
        try {
          await body.finish(await bodyOf(bytesMax));
        } catch (error) {
          if (error instanceof EngineError) say('unread', Buffer.from(JSON.stringify(error.toWire())));
          else say('aborted');
        }
      };
      const takePiece = async (piece: Buffer, isLast: boolean): Promise<void> => {
        await answer.take(piece);
        // The connection broke meanwhile, and the request may be on its way again.
        if (isOver) return;
        if (!isLast) {
          say('more');
          return;
        }
        answer.finish();
        finish('answered');
      };
      const fail = (error: EngineError): void => {
        if (answer.hasBegun) request.cut();
        else refuse(error);
        finish('answered');
      };
      const receive = (kind: PassedKind, bytes: Buffer): void => {
        if (kind === 'refused') finish('refused');
        else if (kind === 'want') void sendBody(bytes.readUInt32LE(0));
        else if (kind === 'more') body.more();
        else if (kind === 'answer')
          answer.begin(JSON.parse(bytes.toString()) as AnswerHead); // of a node of this deployment
        else if (kind === 'cut') {
          request.cut();
          finish('answered');
        } else if (kind === 'piece' || kind === 'last')
          takePiece(bytes, kind === 'last').catch((error: unknown) => {
            if (isOver) return;
            say('aborted');
            if (error instanceof EngineError) fail(error);
            else {
              request.cut();
              finish('answered');
            }
          });
      };
      const lost = (): void => {
        if (answer.hasBegun) request.cut();
        finish(answer.hasBegun ? 'answered' : 'lost');
      };
      start({ receive, lost, gone: () => finish('answered') });
    });
  }

  #passGrpc(call: GrpcCall, connection: Connection): Promise<GrpcAnswer | 'refused' | 'lost'> {
    const { service, method, remoteAddress, headerList: headers, deadlineMs } = call;
    const leftMs = deadlineMs === undefined ? undefined : deadlineMs - steadyMs(systemClock);
    const head: RequestHead = { face: 'grpc', service, method, remoteAddress, headers, leftMs };
    const { say, body, start, end } = this.#begin(connection, head, call.aborted);
    return new Promise((resolve) => {
      let answer: AnswerHead = { headers: [] };
      const pieces: Buffer[] = [];
      const finish = (given: GrpcAnswer | 'refused' | 'lost'): void => {
        end();
        resolve(given);
      };
      const receive = (kind: PassedKind, bytes: Buffer): void => {
        if (kind === 'refused') finish('refused');
        else if (kind === 'want') body.finish(Buffer.from(call.bytes)).catch(() => undefined);
        else if (kind === 'more') body.more();
        else if (kind === 'answer')
          answer = JSON.parse(bytes.toString()) as AnswerHead; // of a node of this deployment
        else if (kind === 'piece') {
          pieces.push(bytes);
          say('more');
        } else if (kind === 'last') {
          const { headers: given, error } = answer;
          const known = Object.fromEntries(given);
          pieces.push(bytes);
          if (error === undefined) finish({ bytes: Buffer.concat(pieces), headers: known });
          else finish({ error: errorOf(error), headers: known });
        } else if (kind === 'cut') finish({ error: new EngineError('STO-E002', BROKEN) });
      };
      start({
        receive,
        lost: () => finish('lost'),
        gone: () => finish({ error: new EngineError('SYS-E005', 'the caller has disconnected') }),
      });
    });
  }
}

function receivePassed(connection: Connection, kind: string, bytes: Buffer): void {
  const message = kind === 'passed' ? readPassed(bytes) : undefined;
  if (message === undefined) return;
  // In the order in which they were sent, whenever the request learns of it.
  if (message.kind === 'serving') connection.refuses = false;
  if (message.kind === 'refused') connection.refuses = true;
  connection.running.get(message.id)?.receive(message.kind, message.body);
}

function errorOf(wire: WireError): EngineError {
  return EngineError.fromWire(wire);
}
