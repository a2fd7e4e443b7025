// Which addresses a webhook, a tool or a model provider may have. Their URLs come from clients, and the server stands inside the
// operator's network: without this check a hook would read metadata services and speak to neighbours (server-side request
// forgery).
import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';

export interface AddressRule {
  /** Any address may be reached. */
  readonly privateToo: boolean;
  /** Addresses of this machine may be reached: nobody else can reach the server's listeners either. */
  readonly loopbackToo: boolean;
  /** Addresses that may be reached, wherever they are. */
  readonly allowed?: BlockList | undefined;
  /** The name in messages of what is sent there; default: webhooks. */
  readonly what?: string | undefined;
}

/** `[address, prefix]`: addresses that are not on the public internet (IANA's special-purpose registries). */
const LOOPBACK_RANGES = [
  ['127.0.0.0', 8],
  ['::1', 128],
] as const;

const PRIVATE_RANGES = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  // Forms that carry an IPv4 address inside: translation (NAT64), 6to4, Teredo, and the deprecated compatible form.
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['2001::', 32],
  ['::', 96],
  ['100::', 64],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

function listOf(ranges: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

const LOOPBACK = listOf(LOOPBACK_RANGES);
const PRIVATE = listOf(PRIVATE_RANGES);

/** True when a webhook may connect to the address, an IPv4 or IPv6 address as text. False for anything else. */
export function mayReach(address: string, { privateToo, loopbackToo, allowed }: AddressRule): boolean {
  const bare = address.replace(/%.*$/, ''); // a zone names an interface of this machine
  const version = isIP(bare);
  if (version === 0) return false;
  if (privateToo) return true;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (allowed?.check(bare, family) === true) return true;
  // An IPv4-mapped address is compared with the IPv4 ranges.
  if (LOOPBACK.check(bare, family)) return loopbackToo;
  return !PRIVATE.check(bare, family);
}

/** A refusal to connect. The message names the host, never the address: a client must not map the network by hooks. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string, what = 'webhooks') {
    super(`${host} has an address that ${what} may not reach`);
    this.name = 'AddressRefused';
  }
}

interface Resolved {
  readonly address: string;
  readonly family: number;
}
type Answer = (error: NodeJS.ErrnoException | null, addresses: Resolved[]) => void;
/** Resolves a host to all its addresses, as dns.lookup with `all` does. */
export type Resolve = (host: string, answer: Answer) => void;

const resolveBySystem: Resolve = (host, answer) => systemLookup(host, { all: true, verbatim: true }, answer);

type LookupAnswer = (
  error: NodeJS.ErrnoException | null,
  address: string | Resolved[],
  family?: number | undefined,
) => void;

/**
 * A `lookup` for sockets: the addresses that it checks are those that the socket uses, so a name that changes its address
 * between check and connection (DNS rebinding) gains nothing. One address that may not be reached refuses the host.
 */
export function guardedLookup(rule: AddressRule, resolve: Resolve = resolveBySystem) {
  return (host: string, options: { readonly all?: boolean | undefined }, answer: LookupAnswer): void => {
    resolve(host, (error, addresses) => {
      if (error !== null) return answer(error, '');
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => mayReach(address, rule)))
        return answer(new AddressRefused(host, rule.what), '');
      if (options.all === true) answer(null, addresses);
      else answer(null, first.address, first.family);
    });
  };
}

/** The address in a URL whose host is one; undefined for a name. WHATWG URLs have decimal and octal forms resolved. */
export function literalAddress({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** Throws AddressRefused, or the resolver's error. For a URL when a hook is made; each connection checks again. */
export async function checkHost(url: URL, rule: AddressRule, resolve: Resolve = resolveBySystem): Promise<void> {
  const literal = literalAddress(url);
  if (literal !== undefined) {
    if (!mayReach(literal, rule)) throw new AddressRefused(url.hostname, rule.what);
    return;
  }
  await new Promise<void>((done, fail) => {
    guardedLookup(rule, resolve)(url.hostname, { all: true }, (error) => (error === null ? done() : fail(error)));
  });
}
