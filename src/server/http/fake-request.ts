// A request without a socket, for tests of handlers.
import { EngineError } from '../../engine/base/errors.ts';
import type { HttpRequest, ResponseHeaders } from './listener.ts';

export interface FakeRequest extends HttpRequest {
  readonly response: { status: number; headers: ResponseHeaders; body: string | Uint8Array } | undefined;
}

export function fakeRequest(given: {
  method?: string | undefined;
  path?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
}): FakeRequest {
  const body = Buffer.from(given.body ?? '');
  let response: FakeRequest['response'];
  return {
    method: given.method ?? 'POST',
    path: given.path ?? '/',
    query: '',
    remoteAddress: '127.0.0.1',
    aborted: new AbortController().signal,
    authority: given.headers?.['host'],
    headerList: Object.entries(given.headers ?? {}).flat(),
    header: (name) => given.headers?.[name],
    only: (name) => given.headers?.[name],
    joined: (name) => given.headers?.[name],
    body: async (bytesMax) => {
      if (body.byteLength > bytesMax) throw new EngineError('LIM-E003');
      return body;
    },
    respond: (status, headers, sent = '') => {
      response = { status, headers, body: sent };
    },
    whenOver: (over) => over(),
    cut: () => undefined,
    stream: () => {
      throw new Error('this request is answered in one piece');
    },
    get response() {
      return response;
    },
  };
}
