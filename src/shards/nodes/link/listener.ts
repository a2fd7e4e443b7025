// Where other nodes connect. A connection runs calls on the shards of this node.
import { createServer as createPlain, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { EngineError } from '../../../engine/base/errors.ts';
import { LINK_CONNECT_MS, LINK_HELLO_BYTES_MAX, LINKS_GREETING_MAX } from '../../../engine/base/limits.ts';
import type { RawShardCaller } from '../../transport/client.ts';
import type { ShardSetLog } from '../../transport/shard-set.ts';
import { type Channel, isOfChannel, type OpenChannel } from './channel.ts';
import { FrameReader, framed } from './frames.ts';
import { answerHello, type LinkSelf, refusalFrame, strangerFrame } from './handshake.ts';
import { FIRST_FRAME_BYTES_MAX, Link } from './link.ts';
import { readNotice, type ShardNotice } from './notice.ts';
import type { LinkTls } from './peer.ts';
import { RequestRunner } from './request-runner.ts';

export interface LinkListenerOptions {
  readonly self: LinkSelf;
  readonly secrets: readonly Buffer[];
  readonly tls?: LinkTls | undefined;
  /** By shard: refuses calls of shards that this node does not have. */
  readonly shards: readonly RawShardCaller[];
  /** Called after the calls of a message: no more of them gather. */
  readonly onRan?: (() => void) | undefined;
  /** Another node says that the owners have changed, or what is to be done for a shard. */
  readonly onLook: (node: string, notice: ShardNotice | undefined) => void;
  /** Called with the first message of a channel; default: such messages are dropped. */
  readonly openChannel?: OpenChannel | undefined;
  readonly log: ShardSetLog;
}

export class LinkListener {
  readonly #options: LinkListenerOptions;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  /** Connections whose other side has not greeted yet. */
  readonly #greeting = new Set<Socket>();

  private constructor(options: LinkListenerOptions) {
    this.#options = options;
    const { tls } = options;
    this.#server =
      tls === undefined
        ? createPlain((socket) => this.#accept(socket))
        : createTls({ ...tls, requestCert: true, rejectUnauthorized: true }, (socket) => this.#accept(socket));
    this.#server.on('error', (error) => options.log.error({ reason: error.message }, 'the listener for nodes failed'));
  }

  /** Listens on the host and port; port 0: a free one. Rejects with the error of the system. */
  static async start(options: LinkListenerOptions, host: string, port: number): Promise<LinkListener> {
    const listener = new LinkListener(options);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen(port, host, resolve);
    });
    return listener;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** Nodes that are connected, by id. */
  get connected(): readonly string[] {
    return [...this.#links].map(({ peer }) => peer.node);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#greeting) socket.destroy();
    for (const link of [...this.#links]) link.close(new EngineError('STO-E002', 'the node is shutting down'));
    await closed;
  }

  #accept(socket: Socket): void {
    if (this.#greeting.size >= LINKS_GREETING_MAX) {
      socket.destroy();
      return;
    }
    const { self, secrets, log } = this.#options;
    const from = socket.remoteAddress;
    this.#greeting.add(socket);
    socket.setNoDelay(true);
    const late = setTimeout(() => socket.destroy(), LINK_CONNECT_MS);
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    socket.once('close', () => {
      clearTimeout(late);
      this.#greeting.delete(socket);
    });
    const reader = new FrameReader(LINK_HELLO_BYTES_MAX);
    const read = (bytes: Buffer): void => {
      try {
        reader.push(bytes, (frame) => {
          const { greeted, answer } = answerHello(frame, self, secrets);
          socket.write(framed(answer));
          socket.off('data', read).off('error', ignore);
          clearTimeout(late);
          this.#greeting.delete(socket);
          reader.bytesMax = FIRST_FRAME_BYTES_MAX;
          this.#serve(socket, reader, greeted);
          return false;
        });
      } catch (error) {
        const reason = error instanceof EngineError ? error.message : 'the greeting cannot be read';
        log.error({ from, reason }, 'a connection to the listener for nodes was refused');
        // Only those who know the secret learn why.
        const isKnown = error instanceof EngineError && error.code === 'VAL-E001';
        socket.off('data', read);
        socket.end(framed(isKnown ? refusalFrame(reason) : strangerFrame()));
      }
    };
    socket.on('data', read);
  }

  #serve(socket: Socket, reader: FrameReader, greeted: ReturnType<typeof answerHello>['greeted']): void {
    const { shards, onLook, onRan, openChannel } = this.#options;
    const { node } = greeted.peer;
    let channel: Channel | undefined;
    const runner = new RequestRunner({
      shards,
      methods: greeted.peer.methods,
      send: (message) => link.send('replies', new Uint8Array(message)),
      ran: () => onRan?.(),
    });
    const link: Link = new Link(socket, reader, greeted, {
      isCalled: true,
      receive: (kind, bytes) => {
        if (kind === 'requests') runner.run(bytes);
        else if (kind === 'look') onLook(node, readNotice(bytes));
        else if (isOfChannel(kind)) {
          channel ??= openChannel?.(node, (to, ...parts) => link.send(to, ...parts));
          channel?.receive(kind, bytes);
        }
      },
      ended: () => {
        this.#links.delete(link);
        channel?.ended();
      },
    });
    this.#links.add(link);
  }
}
