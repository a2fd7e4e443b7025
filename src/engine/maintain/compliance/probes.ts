// Acts on synthetic grains that a rule should refuse. It reports their results and judges nothing.

import { EngineError } from '../../base/errors.ts';
import type { CanaryEvidence, RuleProbe } from '../../calls/compliance.ts';
import type { CallContext } from '../../calls/context.ts';
import { isRegionListed } from '../../govern/policy/in-force.ts';
import type { Rules } from '../../govern/policy/rules.ts';
import { policyJson } from '../../govern/policy/seal.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import type { Memory } from '../../store/memory.ts';
import type { CanaryServices } from './canary-services.ts';
import type { Door } from './door.ts';

/** Identifiers of several classes, none of them a real person's. */
const PERSONAL_TEXT = 'Write to jane.roe@example.com. The SSN is 536-22-8726. Phone: +1 202-555-0143.';
const PERSONAL_CATEGORIES = ['email', 'ssn', 'phone'];
const OVERSIZE_CHARS = (1 << 20) + 1;

type Probes = Pick<CanaryEvidence, 'writeRules' | 'deletionRules' | 'phiGate' | 'optOut' | 'recallLimit'>;

/** Tried under the policy of `memory`, in the temporary memory of `context`. */
export async function policyProbes(
  { door }: CanaryServices,
  memory: Memory,
  context: CallContext,
  runId: string,
): Promise<Probes> {
  const { policy } = memory.governed;
  if (policy.version > 0) {
    const sealed = policyJson(policy) as JsonObject; // a policy is an object
    await door.write('setPolicy', context, { sealed, change: 'upgraded' });
  }
  const tries = new Tries(door, context, `__verify__/${runId}`);
  return {
    writeRules: await writeRules(tries, policy.rules, memory.settings.region),
    deletionRules: await deletionRules(tries, policy.rules),
    phiGate: [
      await tries.add('phi without a grant', ['POL-E002', 'POL-E005'], {
        content: PERSONAL_TEXT,
        user_id: tries.user(),
      }),
      await tries.add('phi with a grant', [], { content: PERSONAL_TEXT, user_id: await tries.granted(['*']) }),
    ],
    optOut: [
      await tries.add('write after an opt-out', ['POL-E002'], { content: 'a note', user_id: await tries.withdrawn() }),
    ],
    recallLimit: recallLimit(door, context, policy.rules),
  };
}

class Tries {
  readonly #door: Door;
  readonly #context: CallContext;
  readonly #prefix: string;
  #users = 0;

  constructor(door: Door, context: CallContext, prefix: string) {
    this.#door = door;
    this.#context = context;
    this.#prefix = prefix;
  }

  /** A new, unknown user. */
  user(): string {
    this.#users += 1;
    return `${this.#prefix}/${this.#users}`;
  }

  async granted(purposes: readonly string[]): Promise<string> {
    const userId = this.user();
    const items = purposes.map((purpose) => ({ userId, purpose, granted: true }));
    await this.#door.write('consent', this.#context, { items });
    return userId;
  }

  async withdrawn(): Promise<string> {
    const userId = this.user();
    await this.#door.write('consent', this.#context, { items: [{ userId, purpose: 'storage', granted: false }] });
    return userId;
  }

  async restricted(): Promise<string> {
    const userId = await this.granted(['*']);
    await this.#door.write('restrict', this.#context, { userId, restricted: true, reason: 'canary' });
    return userId;
  }

  add(rule: string, wanted: readonly string[], fields: JsonObject): Promise<RuleProbe> {
    const event = { grainType: 'event', fields: { namespace: '__verify__', ...fields }, sync: false };
    return probe(rule, wanted, () => this.#door.write('add', this.#context, event));
  }

  async forget(rule: string, wanted: readonly string[], reason: string | undefined): Promise<RuleProbe> {
    const userId = await this.granted(['storage']);
    const fields = { content: `a note of ${userId}`, user_id: userId, namespace: '__verify__' };
    const { hash } = await this.#door.write('add', this.#context, { grainType: 'event', fields, sync: false });
    const context = reason === undefined ? this.#context : { ...this.#context, reason };
    return probe(rule, wanted, () => this.#door.write('forget', context, { hashes: [hash], check: false }));
  }
}

async function writeRules(tries: Tries, rules: Rules, region: string | undefined): Promise<RuleProbe[]> {
  const probes: RuleProbe[] = [];
  const note = { content: 'a note' };
  const add = async (rule: string, wanted: readonly string[], fields: JsonObject): Promise<void> => {
    probes.push(await tries.add(rule, wanted, fields));
  };
  await add('processing.restriction', ['POL-E008'], { ...note, user_id: await tries.restricted() });
  if (rules['write.user_id_required']) await add('write.user_id_required', ['POL-E006'], note);
  if (rules['consent.mode'] === 'opt_in') await add('consent.mode', ['POL-E002'], { ...note, user_id: tries.user() });
  if (rules['consent.mode'] === 'opt_out')
    await add('consent.mode', ['POL-E002'], { ...note, user_id: await tries.withdrawn() });
  const personal = { content: PERSONAL_TEXT };
  if (concerns(rules, PERSONAL_CATEGORIES)) {
    const action = rules['pii.write_action'];
    if (action === 'block')
      await add('pii.write_action', ['POL-E005'], { ...personal, user_id: await tries.granted(['*']) });
    if (action === 'require_consent')
      await add('pii.write_action', ['POL-E002', 'POL-E005'], { ...personal, user_id: tries.user() });
  }
  if (rules['consent.sensitive_separate'] === true)
    await add('consent.sensitive_separate', ['POL-E002', 'POL-E005'], {
      ...personal,
      user_id: await tries.granted(['storage']),
    });
  const [pattern] = rules['guardrail.patterns'];
  if (pattern !== undefined)
    await add('guardrail.patterns', ['POL-E012', 'POL-E005'], {
      content: pattern,
      user_id: await tries.granted(['*']),
    });
  if (rules['residency.enforce'] && rules['residency.regions'].length > 0 && !isRegionListed(rules, region ?? ''))
    await add('residency.enforce', ['POL-E007'], { ...note, user_id: await tries.granted(['storage']) });
  return probes;
}

function concerns(rules: Rules, categories: readonly string[]): boolean {
  const listed = rules['pii.categories'];
  return listed === '*' || listed.some((category) => categories.includes(category));
}

/** Tried in the order in which the rules are evaluated, so that no other rule answers first. */
async function deletionRules(tries: Tries, rules: Rules): Promise<RuleProbe[]> {
  if (rules['deletion.hold']) return [await tries.forget('deletion.hold', ['POL-E003'], 'canary')];
  if (!rules['deletion.allowed']) return [await tries.forget('deletion.allowed', ['POL-E003'], 'canary')];
  const probes: RuleProbe[] = [];
  if (rules['deletion.reason_required'])
    probes.push(await tries.forget('deletion.reason_required', ['POL-E001'], undefined));
  if (rules['deletion.consent_required'])
    probes.push(await tries.forget('deletion.consent_required', ['POL-E002'], 'canary'));
  else if ((rules['deletion.min_age_days'] ?? 0) > 0)
    probes.push(await tries.forget('deletion.min_age_days', ['POL-E003'], 'canary'));
  return probes;
}

function recallLimit(door: Door, context: CallContext, rules: Rules): RuleProbe[] {
  const cap = rules['access.max_recall_limit'];
  if (cap === null) return [];
  const query = {
    query: 'a note',
    filter: {},
    structural: false,
    limit: cap + 1,
    askedLimit: cap + 1,
    candidateLimit: cap + 1,
  };
  try {
    door.read('recall', context, query);
    return [{ rule: 'access.max_recall_limit', wanted: ['POL-E013'], got: '' }];
  } catch (error) {
    return [{ rule: 'access.max_recall_limit', wanted: ['POL-E013'], got: codeOf(error) }];
  }
}

/** Writes that are invalid for every grain. The codes are the contract's. */
export async function robustnessProbes(door: Door, context: CallContext, name: string): Promise<RuleProbe[]> {
  const add = (grainType: string, fields: JsonObject) =>
    door.write('add', context, { grainType, fields: { namespace: '__verify__', ...fields }, sync: false });
  const belief = { subject: name, relation: 'says', object: 'nothing' };
  const probes = [
    await probe('NUL byte', ['VAL-E001', 'VAL-E003'], () => add('event', { content: 'a\u0000b' })),
    await probe('oversize payload', ['VAL-E001', 'LIM-E003', 'FMT-E002'], () =>
      add('event', { content: 'x'.repeat(OVERSIZE_CHARS) }),
    ),
    await probe('confidence 1.5', ['VAL-E001'], () => add('belief', { ...belief, confidence: 1.5 })),
  ];
  const { hash: above } = await add('goal', { description: `${name} above` });
  const { hash: below } = await add('goal', { description: `${name} below`, parent_goals: [above] });
  const fields = { description: `${name} above`, parent_goals: [below] };
  probes.push(
    await probe('cyclic goal', ['VAL-E001'], () => door.write('supersede', context, { oldHash: above, fields })),
  );
  return probes;
}

async function probe(rule: string, wanted: readonly string[], work: () => Promise<unknown>): Promise<RuleProbe> {
  try {
    await work();
    return { rule, wanted, got: '' };
  } catch (error) {
    return { rule, wanted, got: codeOf(error) };
  }
}

function codeOf(error: unknown): string {
  return error instanceof EngineError ? error.code : String(error);
}
