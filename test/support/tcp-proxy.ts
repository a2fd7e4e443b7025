// A TCP proxy for tests: it stands between a client and a server, and delays, holds or loses what the test wants.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export class TcpProxy {
  readonly port: number;
  /** Bytes that came from clients so far. */
  takenBytes = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #areAnswersLost = false;
  /** Connections of which nothing passes any more. */
  readonly #forgotten = new WeakSet<Socket>();
  /** Connections whose answers are lost. */
  readonly #answerless = new WeakSet<Socket>();
  /** How long a piece of bytes is under way in each direction of a new connection, or of one that is there. */
  #delayMs: () => number = () => 0;
  /** Resolves when the network passes bytes again. */
  #held: PromiseWithResolvers<void> | undefined;

  /** Listens on the loopback interface until the test has ended. */
  static async to(t: Pick<TestContext, 'after'>, port: number): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a listening server has a port');
    const proxy = new TcpProxy(server, address.port, port);
    t.after(() => proxy.stop());
    return proxy;
  }

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    server.on('connection', (client) => {
      const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
      this.#add(client, upstream);
      client.on('data', ({ length }: Buffer) => {
        this.takenBytes += length;
      });
      const delayMs = this.#delayMs();
      this.#pass(client, upstream, delayMs);
      this.#pass(upstream, client, delayMs, () => this.#areAnswersLost || this.#answerless.has(client));
    });
  }

  /** From now on the server gets everything, and its answers are lost. */
  loseAnswers(): void {
    this.#areAnswersLost = true;
  }

  /**
   * Of the connections that are there, the server gets everything, and its answers are lost. New ones pass everything. Returns the
   * function that ends them.
   */
  loseTheirAnswers(): () => void {
    const sockets = [...this.#sockets];
    for (const socket of sockets) this.#answerless.add(socket);
    return () => {
      for (const socket of sockets) socket.destroy();
    };
  }

  /** From now on nothing passes, in either direction, and nobody is told: neither bytes nor ends of connections. */
  blackHole(): void {
    this.#held ??= Promise.withResolvers();
  }

  /**
   * Of the connections that are there nothing passes any more, and nobody is told: neither bytes nor ends. New ones pass everything. A
   * firewall that lost its table does so.
   */
  forget(): void {
    for (const socket of this.#sockets) this.#forgotten.add(socket);
  }

  /** Passes what was held, in its order, and everything later. */
  heal(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /**
   * Each piece of bytes is so long under way, in each direction. `msOf` is asked once for each connection that is made later: with
   * different times, what was sent later on one connection comes earlier than what was sent before on another.
   */
  delay(msOf: () => number): void {
    this.#delayMs = msOf;
  }

  /** Ends all connections. New ones pass everything, after their delay. */
  cut(): void {
    this.#areAnswersLost = false;
    this.heal();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Bytes keep their order within a connection. */
  #pass(from: Socket, to: Socket, delayMs: number, isLost = () => false): void {
    /** Ends when everything before has passed. */
    let last = NOTHING;
    const later = (act: () => void): void => {
      if (delayMs === 0 && this.#held === undefined && last === NOTHING) {
        act();
        return;
      }
      const due = delayMs === 0 ? undefined : new Promise<void>((resolve) => setTimeout(resolve, delayMs));
      const before = last;
      last = (async () => {
        await before;
        await due;
        while (this.#held !== undefined) await this.#held.promise;
        act();
      })();
      const own = last;
      void own.then(() => {
        if (last === own) last = NOTHING;
      });
    };
    from.on('data', (bytes) => {
      if (!isLost() && !this.#forgotten.has(from))
        later(() => {
          if (to.writable) to.write(bytes);
        });
    });
    from.on('end', () =>
      later(() => {
        if (!this.#forgotten.has(from)) to.end();
      }),
    );
  }

  #add(client: Socket, upstream: Socket): void {
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', async () => {
        this.#sockets.delete(socket);
        while (this.#held !== undefined) await this.#held.promise;
        if (!this.#forgotten.has(socket)) other.destroySoon();
      });
    }
  }

  /** Ends all connections, and takes no new ones. */
  stop(): void {
    this.#server.close();
    this.cut();
  }
}

const NOTHING: Promise<void> = Promise.resolve();
