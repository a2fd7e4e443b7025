// Whether a memory's texts, or the questions asked of it, may be sent to a service outside: for embedding, or to a model. This
// is the one place that says so: whoever hands texts to such a service asks here first.
import { compose, readOverrides } from '../../engine/govern/policy/compose.ts';
import { egressAction } from '../../engine/govern/policy/in-force.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { type Config, isLoopback } from '../config.ts';
import type { MemoryRecord } from '../control/records.ts';

type Governed = Pick<MemoryRecord, 'governing' | 'policy'>;

/**
 * Its texts may leave when it chose the service itself, or chose nothing and the deployment's own embedder is the service,
 * and its policy does not keep them. So not those of a memory that left the service for another embedder, though its old
 * vectors still answer. A service on this machine is no outside.
 */
export function mayLeave(
  memory: Pick<MemoryRecord, 'vectorBackend'> & Governed,
  { embedder, embeddingUrl }: Pick<Config, 'embedder' | 'embeddingUrl'>,
): boolean {
  if (isHere(embeddingUrl)) return true;
  const { vectorBackend = '' } = memory;
  const isChosen = vectorBackend === 'remote' || (vectorBackend === '' && embedder === 'remote');
  return isChosen && egressOf(memory) === 'allow';
}

/** Whether a question and what was found for it may go to the model at `url`. */
export function mayAsk(memory: Governed, url: string | undefined): boolean {
  return isHere(url) || egressOf(memory) === 'allow';
}

/**
 * What the memory's policy says of personal data in such texts. `redact` keeps them here as `block` does: a vector of another
 * text than the grain's, and an order of other passages, would be worth little.
 */
function egressOf({ governing, policy }: Governed): EgressAction {
  if (governing !== undefined) return governing.egress;
  if (policy === undefined) return 'allow';
  const { rules } = compose(policy.presets, readOverrides(policy.overrides as PolicyValue)); // JSON of rules
  return egressAction(rules);
}

function isHere(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
}
