// How a memory's texts, and the questions asked of it, may be sent to a service outside: for embedding, or to a model. This
// is the one place that says so: whoever hands texts to such a service asks here first, and sends what comes back.

import { compose, readOverrides } from '../../engine/govern/policy/compose.ts';
import { egressAction, egressCategories } from '../../engine/govern/policy/in-force.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { isPiiCategory, type PiiCategory } from '../../engine/text/pii/categories.ts';
import { withoutPii } from '../../engine/text/pii/egress.ts';
import { type Config, isLoopback } from '../config.ts';
import type { MemoryRecord } from '../control/records.ts';

type Governed = Pick<MemoryRecord, 'governing' | 'policy' | 'sealing'>;

/** What of a text may be sent. */
export type Leaving = (text: string) => string;

/**
 * How texts leave for the embedding service; undefined: they do not. They do when the memory chose the service itself, or chose
 * nothing and the deployment's own embedder is the service, and its policy does not block them. So not those of a memory that
 * left the service for another embedder, though its old vectors still answer. A service on this machine is no outside.
 */
export function leavingForVectors(
  memory: Pick<MemoryRecord, 'vectorBackend'> & Governed,
  { embedder, embeddingUrl }: Pick<Config, 'embedder' | 'embeddingUrl'>,
): Leaving | undefined {
  if (isHere(embeddingUrl)) return whole;
  const { vectorBackend = '' } = memory;
  const isChosen = vectorBackend === 'remote' || (vectorBackend === '' && embedder === 'remote');
  return isChosen ? leavingUnder(memory) : undefined;
}

/** How a question and what was found for it leave for the model at `url`; undefined: they do not. */
export function leavingForModel(memory: Governed, url: string | undefined): Leaving | undefined {
  return isHere(url) ? whole : leavingUnder(memory);
}

/** What memories call an embedder by whose texts leave this machine. */
export function outsideBackends({ embedder, embeddingUrl }: Pick<Config, 'embedder' | 'embeddingUrl'>): string[] {
  if (isHere(embeddingUrl)) return [];
  return embedder === 'remote' ? ['', 'remote'] : ['remote'];
}

function whole(text: string): string {
  return text;
}

function leavingUnder(memory: Governed): Leaving | undefined {
  const { action, categories } = egressOf(memory);
  if (action === 'block') return undefined;
  return action === 'redact' ? (text) => withoutPii(text, categories) : whole;
}

interface Egress {
  readonly action: EgressAction;
  readonly categories: '*' | readonly PiiCategory[];
}

/** As the policy has it that was sealed last, or that the memory was made with. */
function egressOf({ governing, policy, sealing }: Governed): Egress {
  // What will hold in a moment is not known yet.
  if (sealing === true) return { action: 'block', categories: '*' };
  if (governing !== undefined) {
    const { egress: action, egressCategories: named = '*' } = governing;
    const known = named === '*' ? '*' : named.filter(isPiiCategory);
    return { action, categories: egressCategories({ 'pii.categories': known }) };
  }
  if (policy === undefined) return { action: 'allow', categories: '*' };
  const { rules } = compose(policy.presets, readOverrides(policy.overrides as PolicyValue)); // JSON of rules
  return { action: egressAction(rules), categories: egressCategories(rules) };
}

function isHere(url: string | undefined): boolean {
  return url !== undefined && URL.canParse(url) && isLoopback(new URL(url).hostname);
}
