// Addresses and networks: lists of them, as options name them, and the network that counts for one caller.
import { type BlockList, isIP } from 'node:net';

/** Adds an address (`10.1.2.3`, `::1`) or a network (`10.1.0.0/16`). False when the text is neither. */
export function addNetwork(networks: BlockList, text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  const most = version === 6 ? 128 : 32;
  const bits = prefix === undefined ? most : Number(prefix);
  if (version === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix ?? '0') || bits > most) return false;
  networks.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
  return true;
}

/** Networks whose last bits are an IPv4 address, and that of `::1`. */
const HOLD_IPV4: ReadonlySet<string> = new Set(['0:0:0:0', '64:ff9b:0:0']);

/**
 * The network of an IPv6 address, its first 64 bits, as text: a caller commonly has all addresses of it. IPv4 addresses, also
 * those within IPv6 (mapped, or behind the prefix of RFC 6052), and the loopback address stand for themselves.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [before = '', after] = address.split('%', 1)[0]!.split('::');
  const head = before === '' ? [] : before.split(':');
  const tail = after === undefined || after === '' ? [] : after.split(':');
  const between = after === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(Math.max(0, between)).fill('0'), ...tail]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16));
  const network = groups.join(':');
  return HOLD_IPV4.has(network) ? address : `${network}::/64`;
}
