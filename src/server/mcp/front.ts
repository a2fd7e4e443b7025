// /mcp on the HTTP port: admits the caller as any operation does, then lets the SDK answer. The SDK is loaded with the first
// request. Where an issuer's tokens are accepted, clients find it by OAuth 2.0 Protected Resource Metadata (RFC 9728).
import { EngineError } from '../../engine/base/errors.ts';
import { MCP_REQUEST_BYTES_MAX } from '../../engine/base/limits.ts';
import { onDemand } from '../../engine/base/on-demand.ts';
import { CallRefused } from '../../mcp/refused.ts';
import type * as Tools from '../../mcp/session.ts';
import { requestIdOf } from '../arrival.ts';
import { includesScope } from '../auth/principal.ts';
import type { Config } from '../config.ts';
import { respondError } from '../http/errors.ts';
import {
  authorityOf,
  type HttpHandler,
  type HttpRequest,
  RequestAborted,
  type ResponseHeaders,
} from '../http/listener.ts';
import type { Logger } from '../log.ts';
import { askingOf, PageGuard } from '../page-guard.ts';
import type { TrustedProxies } from '../proxies.ts';
import type { Wrapper } from '../wrapper.ts';
import { askInside } from './inner-request.ts';
import { type AdmittedScope, mcpRow } from './row.ts';
import type { SdkHandler } from './sdk.ts';

/** The list of tools is long. */
const inTools = onDemand<typeof Tools>(import.meta.url, '../../mcp/session');

const PATH = '/mcp';
const METADATA = '/.well-known/oauth-protected-resource';
const METADATA_SECONDS = 3600;

/** Request headers that the SDK reads. */
const SDK_HEADERS = [
  'accept',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
];
/** Methods that the SDK's form of a request cannot have. It refuses the others that it does not serve. */
const NO_FETCH: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK']);
/** Response headers that the listener sets by itself. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

export interface McpParts {
  readonly config: Config;
  readonly wrapper: Wrapper;
  readonly proxies: TrustedProxies;
  readonly log: Logger;
}

export interface Answering {
  readonly path: string;
  readonly always: ResponseHeaders;
  readonly serve: HttpHandler;
}

export class McpFront {
  readonly #parts: McpParts;
  readonly #guard: PageGuard | undefined;
  /** Where clients look for the metadata: the part of the public address behind the host comes last. */
  readonly #metadataPaths: ReadonlySet<string>;
  #sdk: Promise<SdkHandler> | undefined;

  constructor(parts: McpParts) {
    const { auth, host, allowedHosts, corsOrigins, mcpUrl, basePath } = parts.config;
    this.#parts = parts;
    const own = mcpUrl === undefined ? `${basePath}${PATH}` : new URL(mcpUrl).pathname;
    this.#metadataPaths = new Set([METADATA, `${METADATA}${PATH}`, `${METADATA}${own}`]);
    // Without keys, every request is checked before it comes here.
    this.#guard =
      auth === 'none'
        ? undefined
        : new PageGuard({
            host,
            hosts: [...allowedHosts, ...(mcpUrl === undefined ? [] : [new URL(mcpUrl).hostname])],
            origins: corsOrigins,
            name: PATH,
          });
  }

  /** True for a path that it answers. */
  takes(path: string): boolean {
    return path === PATH || (this.#metadataPaths.has(path) && this.#parts.config.oidcIssuer !== undefined);
  }

  /** Answers a request to one of its paths; `path` is the request's, without the base path. `serve` answers requests of the API. */
  async answer(request: HttpRequest, { path, always, serve }: Answering): Promise<void> {
    if (path === PATH) await this.#answerMessage(request, always, serve);
    else this.#answerMetadata(request, always);
  }

  /** False for a request that a page of another site may have caused, by the names of this server. */
  isKnownPage(request: HttpRequest): boolean {
    try {
      this.#guard?.check(askingOf(request));
      return true;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return false;
    }
  }

  /** Ends open streams. */
  async close(): Promise<void> {
    await (await this.#sdk)?.close();
  }

  #answerMetadata(request: HttpRequest, always: ResponseHeaders): void {
    const { oidcIssuer } = this.#parts.config;
    const url = this.#url(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const error = new EngineError('SYS-E004', 'method not allowed');
      respondError(request, error, requestIdOf(undefined), [...always, ['allow', 'GET, HEAD']]);
      return;
    }
    if (url === undefined) {
      const error = new EngineError('VAL-E001', 'the request does not name one host: set --mcp-url');
      respondError(request, error, requestIdOf(undefined), always);
      return;
    }
    const document = {
      resource: url,
      authorization_servers: [oidcIssuer],
      scopes_supported: ['memory:read', 'memory:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Granary',
    };
    request.respond(
      200,
      [
        ...always.filter(([name]) => name !== 'access-control-allow-origin'),
        // The document is public.
        ['access-control-allow-origin', '*'],
        ['cache-control', `max-age=${METADATA_SECONDS}`],
        ['content-type', 'application/json'],
      ],
      request.method === 'HEAD' ? '' : JSON.stringify(document),
    );
  }

  async #answerMessage(request: HttpRequest, always: ResponseHeaders, serve: HttpHandler): Promise<void> {
    const { wrapper, proxies } = this.#parts;
    let body: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    const performed = await wrapper.perform<AdmittedScope>(
      {
        operation: mcpRow,
        face: 'http',
        get memoryId() {
          return request.only('x-memory-id') || undefined;
        },
        requestId: request.header('x-request-id'),
        header: (name) => request.only(name),
        get remoteAddress() {
          return proxies.clientOf(request);
        },
        route: { verb: request.method, path: PATH },
      },
      {
        read: async () => {
          if (request.isKnownPage !== true) this.#guard?.check(askingOf(request));
          body = new Uint8Array(await request.body(MCP_REQUEST_BYTES_MAX));
          return { candidate: {}, bytes: body, unknown: [] };
        },
        write: (output) => output as AdmittedScope, // the row's
      },
    );
    const headers = [...always, ...Object.entries(performed.headers)];
    if (!performed.ok) {
      respondError(request, performed.error, performed.requestId, this.#challenged(request, performed.error, headers));
      return;
    }
    let session: Tools.Session;
    try {
      session = this.#sessionOf(request, performed.reply, serve);
    } catch (error) {
      if (!(error instanceof CallRefused)) throw error;
      respondError(request, new EngineError('VAL-E001', error.message), performed.requestId, headers);
      return;
    }
    if (NO_FETCH.has(request.method)) {
      const error = new EngineError('SYS-E004', 'method not allowed');
      respondError(request, error, performed.requestId, [...headers, ['allow', 'POST']]);
      return;
    }
    const sdk = await this.#loaded();
    await send(request, await sdk.fetch(webRequest(request, body), session), headers);
  }

  #loaded(): Promise<SdkHandler> {
    const { log } = this.#parts;
    this.#sdk ??= import('./sdk.ts').then(({ sdkHandler }) =>
      sdkHandler((error) => log.debug({ err: error }, 'a message of the Model Context Protocol')),
    );
    return this.#sdk;
  }

  /** The query of the address, which its user configures, says which tools there are. */
  #sessionOf(
    request: HttpRequest,
    { memory, namespace, userId, principal }: AdmittedScope,
    serve: HttpHandler,
  ): Tools.Session {
    const query = new URLSearchParams(request.query);
    const readOnly = flagOf(query) || !includesScope(principal, 'write');
    // The message was counted. Its first operation is what it is for, and no request of its own.
    let isCounted = true;
    return {
      api: (asked) => {
        const inside = { serve, outer: request, isCounted };
        isCounted = false;
        return askInside(asked, inside);
      },
      scope: async () => ({ memory, namespace, user: userId }),
      tools: inTools().offeredTools({
        profile: profileOf(query),
        readOnly,
        names: query.get('tools')?.split(','),
      }),
      readOnly,
    };
  }

  /** A 401 tells the client where the issuer's metadata is. */
  #challenged(request: HttpRequest, { code }: EngineError, headers: ResponseHeaders): ResponseHeaders {
    const url = this.#url(request);
    const { oidcIssuer } = this.#parts.config;
    if ((code !== 'AUT-E004' && code !== 'AUT-E005') || oidcIssuer === undefined || url === undefined) return headers;
    const error = code === 'AUT-E004' ? 'error="invalid_token", ' : '';
    const metadata = `Bearer ${error}resource_metadata="${new URL(`${METADATA}${new URL(url).pathname}`, url).href}"`;
    return [...headers.filter(([name]) => name !== 'www-authenticate'), ['www-authenticate', metadata]];
  }

  /** The public address of /mcp: as configured, else as the client reached it. */
  #url(request: HttpRequest): string | undefined {
    const { mcpUrl, tlsCert, basePath } = this.#parts.config;
    if (mcpUrl !== undefined) return mcpUrl;
    const authority = authorityOf(request);
    if (authority === undefined || !/^[\w.-]+(:\d+)?$|^\[[0-9a-f:.]+\](:\d+)?$/i.test(authority)) return undefined;
    return `${tlsCert === undefined ? 'http' : 'https'}://${authority}${basePath}${PATH}`;
  }
}

function profileOf(query: URLSearchParams): Tools.Profile {
  const profile = query.get('profile') ?? 'default';
  if (profile !== 'default' && profile !== 'full')
    throw new CallRefused('VAL-E001', '`profile` must be default or full');
  return profile;
}

function flagOf(query: URLSearchParams): boolean {
  const value = query.get('read_only') ?? '0';
  if (value !== '0' && value !== '1') throw new CallRefused('VAL-E001', '`read_only` must be 1 or 0');
  return value === '1';
}

/** The request as the SDK reads it. */
function webRequest(request: HttpRequest, body: Uint8Array<ArrayBuffer>): Request {
  const headers = new Headers();
  for (const name of SDK_HEADERS) {
    const value = request.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  return new Request(`http://localhost${PATH}`, {
    method: request.method,
    headers,
    body: hasBody ? body : null,
    signal: request.aborted,
  });
}

/** Sends the SDK's response, as it comes if it is a stream. */
async function send(request: HttpRequest, response: Response, more: ResponseHeaders): Promise<void> {
  const headers = [...response.headers].filter(
    ([name]) => !OWN_HEADERS.has(name) && !more.some(([own]) => own === name),
  );
  const all: ResponseHeaders = [...headers, ...more];
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || response.body === null) {
    request.respond(response.status, all, new Uint8Array(await response.arrayBuffer()));
    return;
  }
  const stream = request.stream(response.status, all);
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  request.aborted.addEventListener('abort', stop, { once: true });
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) await stream.write(read.value);
    stream.end();
  } catch (error) {
    stop();
    if (!(error instanceof RequestAborted)) throw error;
  } finally {
    request.aborted.removeEventListener('abort', stop);
  }
}
