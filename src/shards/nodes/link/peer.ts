// The calls of this node to another one: a connection that is opened when it is needed, and again when it breaks.
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  LINK_BATCHES_OUT_MAX,
  LINK_CONNECT_MS,
  LINK_HELLO_BYTES_MAX,
  LINK_RETRY_MAX_MS,
  LINK_RETRY_MIN_MS,
  LINK_STEADY_MS,
} from '../../../engine/base/limits.ts';
import type { CallContext } from '../../protocol.ts';
import { type RawShardCaller, ShardClient } from '../../transport/client.ts';
import type { ShardCodecs } from '../../transport/codec.ts';
import { type Channel, isOfChannel, type OpenChannel } from './channel.ts';
import { FrameReader, framed } from './frames.ts';
import { CallerHandshake, type LinkSelf, UnknownSecret } from './handshake.ts';
import { FIRST_FRAME_BYTES_MAX, Link } from './link.ts';
import { LostCall } from './lost-call.ts';
import { noticeBytes, type ShardNotice } from './notice.ts';
import { CLOCK_BYTES } from './request-runner.ts';

/** Certificates for both sides, in PEM form: each side shows one that the authority has signed. */
export interface LinkTls {
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

export interface PeerOptions {
  readonly self: LinkSelf;
  /** The id of the other node. */
  readonly node: string;
  /** Its host and port. */
  readonly address: string;
  /** Of the deployment, the current one first. */
  readonly secrets: readonly Buffer[];
  readonly tls?: LinkTls | undefined;
  /** Wire bytes for a node of another version are decoded here. */
  readonly codecs: ShardCodecs;
  /** Called with the reason when the node cannot be reached any more, or the connection breaks as soon as it opens. */
  readonly onError?: ((reason: string) => void) | undefined;
  /** Called after `onError`, when a connection has stayed open for a while. */
  readonly onSteady?: (() => void) | undefined;
  /** Called each time that the connection opens. The other side must speak a version of the protocol that has channels. */
  readonly openChannel?: OpenChannel | undefined;
}

export class Peer {
  readonly #options: PeerOptions;
  readonly #client: ShardClient;
  #link: Link | undefined;
  #channel: Channel | undefined;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Until a connection counts as one that stays. */
  #steady: NodeJS.Timeout | undefined;
  /** Connections that did not open, or did not stay, one after the other. */
  #failures = 0;
  #isClosed = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#client = new ShardClient({
      send: (message) => this.#send(message),
      batchesOutMax: LINK_BATCHES_OUT_MAX,
      // A call that is alone waits for no others.
      schedule: (run) => (this.#client.pendingItems <= 1 ? process.nextTick(run) : setImmediate(run)),
    });
    // Nothing of such a call is sent, so it may be tried again at once.
    this.#client.refuse(this.#refusal('the connection is being opened', true));
    this.#connect();
  }

  get address(): string {
    return this.#options.address;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  /** Calls that wait for an answer. */
  get pending(): number {
    return this.#client.pendingItems;
  }

  /** A caller for a shard of that node. */
  shard(shard: number): RawShardCaller {
    const caller = this.#client.shard(shard);
    return {
      call: (method, context, input) => caller.call(method, context, input),
      callRaw: (codec, context, bytes, lane) =>
        this.#link === undefined || this.#link.peer.version === this.#options.self.version
          ? caller.callRaw(codec, context, bytes, lane)
          : this.#callDecoded(caller, codec, context, bytes),
    };
  }

  /** Tells the node to look at the owners of the shards, and what about. */
  look(notice?: ShardNotice): void {
    this.#link?.send('look', noticeBytes(notice));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#steady);
    const why = 'this node no longer calls it';
    this.#link?.close(new EngineError('STO-E002', why));
    this.#client.refuse(this.#refusal(why, true));
    this.#socket?.destroy();
  }

  /** Codec numbers are those of one version of the program. */
  async #callDecoded(caller: RawShardCaller, number: number, context: CallContext, bytes: Uint8Array) {
    const codec = this.#options.codecs[number];
    if (codec === undefined) throw new EngineError('SYS-E001', `codec ${number} is unknown`);
    const { call, context: changed = context, encode } = codec.decode(bytes, context);
    return encode(await caller.call(call.method, changed, call.input as never)); // decode pairs the method with its input
  }

  #send(message: ArrayBuffer): void {
    const clock = Buffer.allocUnsafe(CLOCK_BYTES);
    clock.writeDoubleLE(steadyMs(systemClock), 0);
    this.#link?.send('requests', clock, new Uint8Array(message));
  }

  /** During a rotation of the master key the node may not know the current secret yet: then it is offered the next one. */
  #connect(offered = 0): void {
    const { self, node, secrets } = this.#options;
    const handshake = new CallerHandshake(self, node, secrets[offered]!);
    const reader = new FrameReader(LINK_HELLO_BYTES_MAX);
    const socket = this.#open();
    this.#socket = socket;
    socket.setNoDelay(true);
    const fail = (reason: string): void => {
      socket.destroy();
      if (this.#socket === socket) this.#failed(reason);
    };
    const late = setTimeout(() => fail('it did not answer in time'), LINK_CONNECT_MS);
    const onError = (error: Error & { readonly code?: string }): void => fail(error.message || String(error.code));
    const onClose = (): void => fail('it closed the connection');
    socket.once(this.#options.tls === undefined ? 'connect' : 'secureConnect', () =>
      socket.write(framed(handshake.frame)),
    );
    socket.once('error', onError);
    socket.once('close', onClose);
    const read = (bytes: Buffer): void => {
      try {
        reader.push(bytes, (frame) => {
          const greeted = handshake.finish(frame);
          socket.off('data', read).off('error', onError).off('close', onClose);
          clearTimeout(late);
          reader.bytesMax = FIRST_FRAME_BYTES_MAX;
          this.#opened(
            new Link(socket, reader, greeted, {
              isCalled: false,
              receive: (kind, received) => {
                if (kind === 'replies')
                  this.#client.receive(Uint8Array.prototype.slice.call(received).buffer as ArrayBuffer);
                else if (isOfChannel(kind)) this.#channel?.receive(kind, received);
              },
              ended: (reason) => this.#ended(reason),
            }),
          );
          return false;
        });
      } catch (error) {
        const isLast = offered + 1 === secrets.length;
        if (error instanceof UnknownSecret && !isLast && this.#socket === socket) {
          socket.off('close', onClose).destroy();
          if (!this.#isClosed) this.#connect(offered + 1);
          return;
        }
        fail(error instanceof Error ? error.message : String(error));
      }
    };
    socket.on('data', read);
    socket.once('close', () => clearTimeout(late));
  }

  #open(): Socket {
    const { address, tls } = this.#options;
    const at = address.lastIndexOf(':');
    const host = address.slice(0, at).replace(/^\[|\]$/g, '');
    const port = Number(address.slice(at + 1));
    return tls === undefined ? connectPlain({ host, port }) : connectTls({ host, port, ...tls, servername: host });
  }

  #opened(link: Link): void {
    this.#link = link;
    this.#steady = setTimeout(() => {
      this.#steady = undefined;
      if (this.#failures > 0) this.#options.onSteady?.();
      this.#failures = 0;
    }, LINK_STEADY_MS);
    this.#steady.unref();
    this.#client.open();
    this.#channel = this.#options.openChannel?.(this.#options.node, (kind, ...parts) => link.send(kind, ...parts));
  }

  #ended(reason: EngineError): void {
    this.#link = undefined;
    this.#channel?.ended();
    this.#channel = undefined;
    const why = reason.message.replace(/^STO-E002: /, '');
    this.#client.fail(new LostCall('STO-E002', this.#refusalText(why), { retryAfterSeconds: 1 }));
    // Nothing is sent of those that come before there is a connection again.
    this.#client.refuse(this.#refusal(why, true));
    const isSteady = this.#steady === undefined;
    clearTimeout(this.#steady);
    if (isSteady) this.#retry(LINK_RETRY_MIN_MS);
    else this.#countFailure(why);
  }

  #failed(reason: string): void {
    if (this.#isClosed) return;
    this.#client.refuse(this.#refusal(reason, false));
    this.#countFailure(reason);
  }

  #countFailure(reason: string): void {
    if (this.#isClosed) return;
    if (this.#failures === 0) this.#options.onError?.(reason);
    this.#failures += 1;
    this.#retry(Math.min(LINK_RETRY_MAX_MS, LINK_RETRY_MIN_MS * 2 ** this.#failures));
  }

  #retry(ms: number): void {
    this.#socket = undefined;
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), ms);
  }

  #refusal(why: string, isElsewhere: boolean): EngineError {
    return new EngineError('STO-E002', this.#refusalText(why), { isElsewhere, retryAfterSeconds: 1 });
  }

  #refusalText(why: string): string {
    return `node ${this.#options.node} at ${this.address} cannot be called: ${why}`;
  }
}
