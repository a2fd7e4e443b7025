// Protects a server without keys from pages of other sites. A browser on the same machine can reach it and sends what
// any page asks for; only the browser's own headers reveal the page. A page whose host name resolves to this machine
// (DNS rebinding) is recognised by Host.
import { EngineError } from '../engine/base/errors.ts';
import type { HttpRequest } from './http/listener.ts';
import { isLoopback } from './loopback.ts';

/** Origin and target of a request. */
export interface Asking {
  readonly method: string;
  /** Host or `:authority`. Undefined: the peer is not a browser. */
  readonly authority: string | undefined;
  /** Returns a header by lower-case name. */
  readonly header: (name: string) => string | undefined;
}

export function askingOf(request: Pick<HttpRequest, 'method' | 'authority' | 'only'>): Asking {
  return { method: request.method, authority: request.authority, header: (name) => request.only(name) };
}

export class PageGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #anyHost: boolean;
  readonly #origins: ReadonlySet<string>;
  readonly #name: string | undefined;

  /**
   * `host`: the listening address; `hosts`: further names besides loopback; `origins`: pages that may call; `name`: the part
   * of a server with keys that is guarded, where `*` allows every origin.
   */
  constructor(allowed: {
    readonly host: string;
    readonly hosts: readonly string[];
    readonly origins: readonly string[];
    readonly name?: string | undefined;
  }) {
    this.#name = allowed.name;
    this.#hosts = new Set([bare(allowed.host), ...allowed.hosts.map(bare)]);
    // The public names of an address are unknown unless they are configured.
    this.#anyHost = !isLoopback(allowed.host) && allowed.hosts.length === 0;
    this.#origins = new Set(allowed.origins);
  }

  /** Throws AUT-E001 for a request that a page of another site may have caused. */
  check(asking: Asking): void {
    const authority = this.#checkHost(asking.authority);
    const origin = asking.header('origin');
    if (origin !== undefined) {
      if (!this.#allows(origin) && !isOwn(origin, authority))
        throw this.#refusal(`does not answer pages of ${origin}`, `--cors-origins ${origin}`);
      return;
    }
    const site = asking.header('sec-fetch-site');
    if (site === undefined || site === 'same-origin' || site === 'none' || isLink(asking)) return;
    throw this.#refusal('does not answer pages of other sites', '--cors-origins with their origin');
  }

  #allows(origin: string): boolean {
    return this.#origins.has(origin) || (this.#name !== undefined && this.#origins.has('*'));
  }

  #refusal(what: string, remedy: string): EngineError {
    const who = this.#name ?? 'a server with --auth none';
    return new EngineError('AUT-E001', `${who} ${what} (${remedy} allows it)`);
  }

  #checkHost(sent: string | undefined): Authority | undefined {
    if (sent === undefined) return undefined;
    const authority = authorityIn(sent);
    const isKnown = authority !== undefined && (isLoopback(authority.name) || this.#hosts.has(authority.name));
    if (!isKnown && !this.#anyHost)
      throw this.#refusal(`does not answer to the name ${sent}`, `--allowed-hosts ${authority?.name ?? 'NAME'}`);
    return authority;
  }
}

interface Authority {
  readonly name: string;
  /** Empty for the scheme's default port. */
  readonly port: string;
}

function authorityIn(sent: string): Authority | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[^\s:@/\\[\]]+)(?::(\d+))?$/i.exec(sent);
  return found === null ? undefined : { name: bare(found[1] ?? ''), port: found[2] ?? '' };
}

/** Normalises a name for comparison. */
function bare(name: string): string {
  const lower = name.trim().toLowerCase();
  return lower.startsWith('[') ? lower.slice(1, -1) : lower.replace(/\.$/, '');
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** True for a page of this server: its host is the request's, or another loopback name. */
function isOwn(origin: string, authority: Authority | undefined): boolean {
  if (authority === undefined || !URL.canParse(origin)) return false;
  const { origin: parsed, protocol, hostname, port } = new URL(origin);
  const schemePort = PORTS[protocol];
  if (parsed !== origin.toLowerCase() || schemePort === undefined) return false;
  if ((port || schemePort) !== (authority.port || schemePort)) return false;
  const name = bare(hostname);
  return name === authority.name || (isLoopback(name) && isLoopback(authority.name));
}

/** True for a followed link: the linking page cannot read the answer. */
function isLink({ method, header }: Asking): boolean {
  return method === 'GET' && header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document';
}
