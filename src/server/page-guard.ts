// Keeps the pages of other sites from a server that asks for no key. A browser on the same machine reaches it as well as its
// owner does, and sends what any page tells it to; what it says of the page is all there is to go by. A page that brings a name
// of its own to this machine's address (DNS rebinding) is told by the name in Host.
import { EngineError } from '../engine/base/errors.ts';
import { isLoopback } from './config.ts';

/** What a request says of where it comes from and whom it is for. */
export interface Asking {
  readonly method: string;
  /** Host or `:authority`. Undefined: the peer is no browser. */
  readonly authority: string | undefined;
  /** A header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

export class PageGuard {
  readonly #hosts: ReadonlySet<string>;
  readonly #anyHost: boolean;
  readonly #origins: ReadonlySet<string>;

  /** `host` is listened on; `hosts` are names beside it and loopback, `origins` those of other pages that may call. */
  constructor(allowed: {
    readonly host: string;
    readonly hosts: readonly string[];
    readonly origins: readonly string[];
  }) {
    this.#hosts = new Set([bare(allowed.host), ...allowed.hosts.map(bare)]);
    // By which names others know an address that they reach is not known here, unless it is said.
    this.#anyHost = !isLoopback(allowed.host) && allowed.hosts.length === 0;
    this.#origins = new Set(allowed.origins);
  }

  /** Throws AUT-E001 for what a page of another site may have made the browser send. */
  check(asking: Asking): void {
    const authority = this.#checkHost(asking.authority);
    const origin = asking.header('origin');
    if (origin !== undefined) {
      if (!this.#origins.has(origin) && !isOwn(origin, authority))
        throw refusal(`answers no page of ${origin}`, `--cors-origins ${origin}`);
      return;
    }
    const site = asking.header('sec-fetch-site');
    if (site === undefined || site === 'same-origin' || site === 'none' || isLink(asking)) return;
    throw refusal('answers no page of another site', '--cors-origins and its Origin');
  }

  #checkHost(sent: string | undefined): Authority | undefined {
    if (sent === undefined) return undefined;
    const authority = authorityIn(sent);
    const isKnown = authority !== undefined && (isLoopback(authority.name) || this.#hosts.has(authority.name));
    if (!isKnown && !this.#anyHost)
      throw refusal(`is not called ${sent}`, `--allowed-hosts ${authority?.name ?? 'NAME'}`);
    return authority;
  }
}

interface Authority {
  readonly name: string;
  /** '' when it is that of the scheme. */
  readonly port: string;
}

function authorityIn(sent: string): Authority | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[^\s:@/\\[\]]+)(?::(\d+))?$/i.exec(sent);
  return found === null ? undefined : { name: bare(found[1] ?? ''), port: found[2] ?? '' };
}

/** A name as names are compared. */
function bare(name: string): string {
  const lower = name.trim().toLowerCase();
  return lower.startsWith('[') ? lower.slice(1, -1) : lower.replace(/\.$/, '');
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** The page came from here: from the host that the request goes to, by the same name or another one of loopback. */
function isOwn(origin: string, authority: Authority | undefined): boolean {
  if (authority === undefined || !URL.canParse(origin)) return false;
  const { origin: parsed, protocol, hostname, port } = new URL(origin);
  const schemePort = PORTS[protocol];
  if (parsed !== origin.toLowerCase() || schemePort === undefined) return false;
  if ((port || schemePort) !== (authority.port || schemePort)) return false;
  const name = bare(hostname);
  return name === authority.name || (isLoopback(name) && isLoopback(authority.name));
}

/** Somebody followed a link: the page that has it sees nothing of the answer. */
function isLink({ method, header }: Asking): boolean {
  return method === 'GET' && header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document';
}

function refusal(what: string, remedy: string): EngineError {
  return new EngineError('AUT-E001', `a server with --auth none ${what} (${remedy} allows it)`);
}
