// Clients as programs use them: each sends a body of zeros and resolves to the answer.
import { execFile } from 'node:child_process';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';

export interface Sending {
  readonly bytes: number;
  /** The header Connection. */
  readonly connection: string;
  /** Waits for 100 Continue. */
  readonly expects: boolean;
}

interface Answered {
  readonly status: number;
  readonly body: string;
}

const PIECE = Buffer.alloc(65_536);

/** A body as from a file. */
function piecesOf(bytes: number): Readable {
  return Readable.from(
    (async function* () {
      for (let left = bytes; left > 0; left -= PIECE.length) {
        yield PIECE.subarray(0, left);
        await setImmediate();
      }
    })(),
  );
}

type Send = (port: number, sending: Sending) => Promise<Answered>;

function viaNode(port: number, { bytes, connection, expects }: Sending): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const agent = new HttpAgent({ keepAlive: connection === 'keep-alive' });
    const headers = { 'content-length': bytes, ...(expects && { expect: '100-continue' }) };
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', agent, headers });
    const send = (): void => void piecesOf(bytes).pipe(request);
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      text(response).then((read) => resolve({ status, body: read }), reject);
      response.on('end', () => agent.destroy());
    });
    if (expects) {
      request.flushHeaders();
      request.on('continue', send);
    } else send();
  });
}

/** It is undici: it neither waits for 100 Continue nor lets its caller close the connection. */
async function viaFetch(port: number, { bytes }: Sending): Promise<Answered> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: new Blob([new Uint8Array(bytes)]) });
  return { status: answer.status, body: await answer.text() };
}

function viaCurl(port: number, { bytes, connection, expects }: Sending): Promise<Answered> {
  const headers = [`Connection: ${connection}`, `Expect:${expects ? ' 100-continue' : ''}`];
  const flags = ['-sS', '-X', 'POST', '--data-binary', '@-', '-w', '\n%{http_code}'];
  return new Promise((resolve, reject) => {
    const words = [...flags, ...headers.flatMap((header) => ['-H', header]), `http://127.0.0.1:${port}/`];
    const { stdin } = execFile('curl', words, (error, stdout) => {
      if (error !== null) return reject(error);
      const [body = '', status] = stdout.split('\n');
      resolve({ status: Number(status), body });
    });
    stdin?.on('error', () => undefined);
    if (stdin !== null) piecesOf(bytes).pipe(stdin);
  });
}

export const SENDERS: Readonly<Record<string, Send>> = { 'node:http': viaNode, fetch: viaFetch, curl: viaCurl };
