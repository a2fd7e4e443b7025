// CORS by a list of allowed origins. It precedes authentication, because a preflight carries no key.
import type { HttpRequest, ResponseHeaders } from './listener.ts';

const NONE: ResponseHeaders = [];
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** Response headers that a page may read. */
const EXPOSED =
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, X-AI-Disclosure, ETag, X-Warnings';
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}$/;
const PREFLIGHT_SECONDS = '600';

export class Cors {
  private readonly origins: ReadonlySet<string>;
  private readonly anyOrigin: boolean;

  /**
   * Origins such as `https://console.example`, or `*` for all. Without any, no page of another origin may read answers.
   */
  constructor(origins: readonly string[]) {
    this.origins = new Set(origins);
    this.anyOrigin = this.origins.has('*');
  }

  /** Headers for any response to this request. */
  headers(request: HttpRequest): ResponseHeaders {
    if (this.origins.size === 0) return NONE;
    const origin = request.header('origin');
    if (this.anyOrigin) return origin === undefined ? NONE : allowed('*');
    // Caches must not serve one origin's answer to another.
    const vary = ['vary', 'Origin'] as const;
    if (origin === undefined || !this.origins.has(origin)) return [vary];
    return [...allowed(origin), vary];
  }

  /** Answers a preflight; false when the request is not one. */
  preflight(request: HttpRequest): boolean {
    if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) return false;
    const headers = this.headers(request);
    const wanted = request.header('access-control-request-headers') ?? '';
    if (!headers.some(([name]) => name === 'access-control-allow-origin') || !HEADER_NAMES.test(wanted)) {
      request.respond(204, headers);
      return true;
    }
    request.respond(204, [
      ...headers,
      ['access-control-allow-methods', METHODS],
      ['access-control-max-age', PREFLIGHT_SECONDS],
      ...(wanted === '' ? [] : [['access-control-allow-headers', wanted] as const]),
    ]);
    return true;
  }
}

function allowed(origin: string): ResponseHeaders {
  return [
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', EXPOSED],
  ];
}
