// Decides how a memory's texts and questions may be sent to external services, for embedding or to a model. All code
// that sends text to such a service asks here first and sends only the returned text.

import { compose, readOverrides } from '../../engine/govern/policy/compose.ts';
import { egressAction, egressCategories } from '../../engine/govern/policy/in-force.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { isPiiCategory, type PiiCategory } from '../../engine/text/pii/categories.ts';
import { withoutPii } from '../../engine/text/pii/egress.ts';
import type { Config } from '../config.ts';
import type { MemoryRecord } from '../control/records.ts';
import { isLoopback } from '../loopback.ts';

type Governed = Pick<MemoryRecord, 'governing' | 'policy' | 'sealing'>;

/** Returns the part of a text that may be sent. */
export type Leaving = (text: string) => string;

/**
 * How texts may be sent to the embedding service; undefined: not at all. They may when the memory chose the service, or
 * chose nothing and the service is the deployment's default, unless its policy blocks it. A memory that switched to
 * another embedder sends nothing more, although its old vectors still answer. A service on this machine is not
 * external.
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

/** How a question and its hits may be sent to the model at `url`; undefined: not at all. */
export function leavingForModel(memory: Governed, url: string | undefined): Leaving | undefined {
  return isHere(url) ? whole : leavingUnder(memory);
}

/** Backend names whose embedder sends texts to another machine. */
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

/** From the policy sealed last, or the one that the memory was created with. */
function egressOf({ governing, policy, sealing }: Governed): Egress {
  // The next policy is not known yet, so block everything.
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
