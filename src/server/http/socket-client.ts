// An HTTP/1.1 client for tests that exposes the wire: it sends any bytes, at any pace, and reads responses one by one.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { defined } from '../../engine/base/defined.ts';

export interface WireResponse {
  readonly status: number;
  /** Lower-case names; of several with one name, the last. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export class SocketClient {
  readonly socket: Socket;
  /** Resolves when either side has closed the connection. */
  readonly closed: Promise<void>;
  private chunks: Buffer[] = [];
  private bytes = 0;
  private over = false;
  private wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.bytes += chunk.length;
      this.wake();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.over = true;
        this.wake();
        resolve();
      });
    });
  }

  static async open(port: number, options: { tls?: boolean | undefined } = {}): Promise<SocketClient> {
    const where = { host: '127.0.0.1', port };
    const socket = options.tls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
    const client = new SocketClient(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once(options.tls ? 'secureConnect' : 'connect', () => resolve());
      socket.once('error', reject);
    });
    return client;
  }

  /** Strings are sent as Latin-1, so that any byte can be written. */
  send(data: string | Uint8Array): void {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
  }

  /** Sends a request line, Host, the given headers, then the body. */
  request(
    method: string,
    target: string,
    options: { headers?: Record<string, string> | undefined; body?: string | Uint8Array | undefined } = {},
  ): void {
    const { body, headers = {} } = options;
    const lines = Object.entries(
      defined({
        Host: 'localhost',
        'Content-Length': body === undefined ? undefined : String(Buffer.byteLength(body)),
        ...headers,
      }),
    ).map(([name, value]) => `${name}: ${value}\r\n`);
    this.send(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
    if (body !== undefined) this.socket.write(body);
  }

  /** The next response; undefined when the connection closes first. 100 Continue is skipped. */
  async response(options: { bodiless?: boolean | undefined } = {}): Promise<WireResponse | undefined> {
    const head = await this.take(() => this.received().indexOf('\r\n\r\n') + 4, 4);
    if (head === undefined) return undefined;
    const [statusLine = '', ...lines] = head.toString('latin1').trimEnd().split('\r\n');
    const status = Number(statusLine.split(' ')[1]);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    if (status === 100) return this.response(options);
    const body = options.bodiless || status === 204 || status === 304 ? Buffer.alloc(0) : await this.body(headers);
    return body && { status, headers, body };
  }

  /** Sends a request and waits for its response. */
  async exchange(
    method: string,
    target: string,
    options: { headers?: Record<string, string> | undefined; body?: string | Uint8Array | undefined } = {},
  ): Promise<WireResponse | undefined> {
    this.request(method, target, options);
    return this.response({ bodiless: method === 'HEAD' });
  }

  close(): void {
    this.socket.destroy();
  }

  private async body(headers: ReadonlyMap<string, string>): Promise<Buffer | undefined> {
    const length = headers.get('content-length');
    if (length !== undefined) return this.take(() => Number(length));
    if (headers.get('transfer-encoding') !== 'chunked') {
      await this.closed;
      return this.take(() => this.bytes);
    }
    const chunks: Buffer[] = [];
    for (;;) {
      const line = await this.take(() => this.received().indexOf('\r\n') + 2, 2);
      if (line === undefined) return undefined;
      const size = Number.parseInt(line.toString('latin1'), 16);
      const chunk = await this.take(() => size + 2);
      if (chunk === undefined) return undefined;
      if (size === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, size));
    }
  }

  /** The first `length()` bytes, once that many have arrived; with fewer than `least` the length is not known yet. */
  private async take(length: () => number, least = 0): Promise<Buffer | undefined> {
    for (;;) {
      const wanted = length();
      if (wanted >= least && this.bytes >= wanted) {
        const all = this.received();
        this.chunks = [all.subarray(wanted)];
        this.bytes -= wanted;
        return all.subarray(0, wanted);
      }
      if (this.over) return undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  /** All received, unread bytes in one piece. */
  private received(): Buffer {
    if (this.chunks.length !== 1) this.chunks = [Buffer.concat(this.chunks)];
    return this.chunks[0]!;
  }
}
