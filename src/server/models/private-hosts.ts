// Where model providers may be besides the public internet: on this machine, which is the usual place of a local model
// server, and where the operator says.
import { BlockList, isIP } from 'node:net';
import { EngineError } from '../../engine/base/errors.ts';
import type { Config } from '../config.ts';
import { isLoopback } from '../loopback.ts';
import { addNetwork } from '../networks.ts';
import type { AddressRule } from '../outgoing/addresses.ts';

export interface PrivateHosts {
  /** Host names, in lower case: any address of theirs. */
  readonly names: ReadonlySet<string>;
  readonly networks: BlockList;
}

/** From --model-hosts, and the hosts of the start's own URLs. Throws VAL-E001. */
export function privateHosts({
  modelHosts,
  modelUrl,
  rerankUrl,
  embeddingUrl,
}: Pick<Config, 'modelHosts' | 'modelUrl' | 'rerankUrl' | 'embeddingUrl'>): PrivateHosts {
  const names = new Set<string>();
  const networks = new BlockList();
  const own = [modelUrl, rerankUrl, embeddingUrl].flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, '')] : [],
  );
  for (const one of [...modelHosts, ...own]) {
    if (addNetwork(networks, one)) continue;
    if (/^[a-z0-9._-]{1,253}$/i.test(one) && isIP(one) === 0) names.add(one.toLowerCase());
    else
      throw new EngineError('VAL-E001', `--model-hosts: ${JSON.stringify(one)} is not a host, an address or a network`);
  }
  return { names, networks };
}

/**
 * The addresses that a host may have. A name of the public internet must not lead to this machine: only an address of this
 * machine, or `localhost`, does.
 */
export function ruleOf({ names, networks }: PrivateHosts, host: string): AddressRule {
  return { privateToo: names.has(host.toLowerCase()), loopbackToo: isLoopback(host), allowed: networks };
}
