// The address of the caller behind proxies. A header with it is believed only from proxies that the operator trusts:
// anyone can send one.
import { BlockList, isIP } from 'node:net';
import { EngineError } from '../engine/base/errors.ts';
import { FORWARDED_HOPS_MAX } from '../engine/base/limits.ts';
import { addNetwork } from './networks.ts';

/** A request as a proxy passes it on. */
export interface Passed {
  /** The peer's IP address; empty when it has disconnected. */
  readonly remoteAddress: string;
  joined(name: string): string | undefined;
}

export class TrustedProxies {
  readonly #networks = new BlockList();
  readonly #isEmpty: boolean;

  /** `trusted`: addresses and networks of proxies. Throws VAL-E001 for other text. */
  constructor(trusted: readonly string[]) {
    for (const one of trusted)
      if (!addNetwork(this.#networks, one))
        throw new EngineError(
          'VAL-E001',
          `--trusted-proxies: ${JSON.stringify(one)} is not an address or a network, such as 10.1.0.7 or 10.1.0.0/16`,
        );
    this.#isEmpty = trusted.length === 0;
  }

  /**
   * The address of the caller: the nearest one in X-Forwarded-For or Forwarded that is no trusted proxy, read from the end,
   * which the nearest proxy wrote. It is the peer's own when the peer is not trusted, when neither header is there, or when
   * both are and differ: then the caller has sent one that the proxy passes on unread.
   */
  clientOf(passed: Passed): string {
    const peer = passed.remoteAddress;
    if (this.#isEmpty || !this.#trusts(plain(peer))) return peer;
    const list = passed.joined('x-forwarded-for');
    const forwarded = passed.joined('forwarded');
    if (list === undefined && forwarded === undefined) return peer;
    const byList = list === undefined ? undefined : this.#nearest(peer, list.split(','));
    const byForwarded = forwarded === undefined ? undefined : this.#nearest(peer, forsOf(forwarded));
    if (byList !== undefined && byForwarded !== undefined && byList !== byForwarded) return peer;
    return byList ?? byForwarded ?? peer;
  }

  /** The first address that is not trusted, from the end. An entry that is no address ends the search at the hop before. */
  #nearest(peer: string, hops: readonly string[]): string {
    let nearest = peer;
    for (const hop of hops.slice(-FORWARDED_HOPS_MAX).reverse()) {
      const address = addressOf(hop);
      if (address === undefined) return nearest;
      nearest = address;
      if (!this.#trusts(address)) return nearest;
    }
    return nearest;
  }

  #trusts(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#networks.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }
}

/** An IPv4 address that a socket for both families shows as IPv6 is the IPv4 address. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** Reads `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::7`, `[2001:db8::7]:4711`, quoted or not. */
function addressOf(hop: string): string | undefined {
  const text = hop.trim().replace(/^"(.*)"$/, '$1');
  const bracketed = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1];
  const address = plain((bracketed ?? (isIP(text) === 0 ? text.replace(/:\d{1,5}$/, '') : text)).toLowerCase());
  return isIP(address) === 0 ? undefined : address;
}

/** The `for` of each element of a Forwarded header (RFC 7239), in order; empty where an element has none. */
function forsOf(header: string): readonly string[] {
  return header.split(',').map((element) => {
    const pair = element.split(';').find((one) => /^\s*for\s*=/i.test(one));
    return pair === undefined ? '' : pair.slice(pair.indexOf('=') + 1);
  });
}
