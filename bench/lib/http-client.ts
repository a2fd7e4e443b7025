// A minimal HTTP/1.1 client: one request at a time on a kept-alive connection, prepared in advance.
import { connect, type Socket } from 'node:net';

/** The body of the reply, or undefined when the status was not 2xx. */
export type Answered = (body: Buffer | undefined) => void;

/** A whole JSON POST request, with a key if there is one. */
export function postRequest(path: string, body: string, key: string | undefined): Buffer {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    'content-type: application/json',
    ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** A GET request. */
export function getRequest(path: string, key: string | undefined): Buffer {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'host: localhost',
    ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

const HEAD_END = Buffer.from('\r\n\r\n');

export class HttpConnection {
  readonly #socket: Socket;
  #answered: Answered | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('close', () => this.#end());
    socket.on('error', () => this.#end());
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () => resolve(new HttpConnection(socket)));
      socket.once('error', reject);
    });
  }

  /** Sends a request of `postRequest` or `getRequest`; the previous one must have been answered. */
  call(request: Buffer, answered: Answered): void {
    if (this.#answered !== undefined) throw new Error('a connection has one request at a time');
    if (this.#ended) {
      answered(undefined);
      return;
    }
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const headEnd = this.#rest.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#rest.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) throw new Error(`a reply without a length:\n${head}`);
    const start = headEnd + HEAD_END.length;
    const end = start + Number(length);
    if (this.#rest.length < end) return;
    const body = this.#rest.subarray(start, end);
    this.#rest = this.#rest.subarray(end);
    this.#answer(head.startsWith('HTTP/1.1 2') ? body : undefined);
  }

  #answer(body: Buffer | undefined): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(body);
  }

  #end(): void {
    this.#ended = true;
    this.#answer(undefined);
  }
}
