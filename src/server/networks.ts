// Lists of addresses and networks, as options name them.
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
