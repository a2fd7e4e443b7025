// Writes policy, restrictions and consent to every partition, so that each can decide alone. A stricter rule reaches
// every partition before the change is answered. A looser rule is decided in partition 0, which keeps the memory's
// policy, and reaches the others afterwards. An interrupted change therefore leaves some partitions too strict, never
// too loose, and a repeat completes it.

import { defined } from '../../engine/base/defined.ts';
import { ConsentOrder } from '../../engine/govern/consent/consent.ts';
import type { ConsentFact, ConsentOutcome, Input, Output, RetentionNamespace } from '../protocol.ts';
import { type Fan, halfDone } from './fan.ts';
import { sumOf } from './merge.ts';
import { partitionFor } from './placement.ts';

export async function gatherSetPolicy(fan: Fan, input: Input<'setPolicy'>): Promise<Output<'setPolicy'>> {
  if ('sealed' in input || input.check === true) return fan.one(0, 'setPolicy', input);
  const decided = await fan.one(0, 'setPolicy', { ...input, check: true });
  if (decided.change === 'upgraded') await handOn(fan, decided);
  // Decide again: if another change came in between, this one builds on it.
  const sealed = await fan.one(0, 'setPolicy', input);
  if (decided.change !== 'upgraded' || sealed.policy['seal_hash'] !== decided.policy['seal_hash'])
    await handOn(fan, sealed);
  return sealed;
}

async function handOn(fan: Fan, { policy, change }: Output<'setPolicy'>): Promise<void> {
  const others = fan.repeatable();
  const sealed = { sealed: policy, change };
  const settled = await Promise.allSettled(
    Array.from({ length: fan.partitions - 1 }, (_, at) => others.one(at + 1, 'setPolicy', sealed)),
  );
  if (settled.some(({ status }) => status === 'rejected')) throw halfDone('the policy');
}

/** Repeating a restriction answers with the time of the first one. */
export async function gatherRestrict(fan: Fan, input: Input<'restrict'>): Promise<Output<'restrict'>> {
  const answers = await fan.everywhere('restrict', input, 'the change of the restriction');
  return { restricted: input.restricted, timestamp: Math.min(...answers.map(({ timestamp }) => timestamp)) };
}

export function mergeRestrictions(answers: readonly Output<'restrictions'>[]): Output<'restrictions'> {
  const first = new Map<string, Output<'restrictions'>['restrictions'][number]>();
  for (const restriction of answers.flatMap(({ restrictions }) => restrictions)) {
    const known = first.get(restriction.userId) ?? restriction;
    const [earlier, later] =
      restriction.restrictedAt < known.restrictedAt ? [restriction, known] : [known, restriction];
    // Only the partition with grains of the person may tell a bound caller why, and who.
    const { reason, restrictedBy } = earlier.restrictedBy === '' ? later : earlier;
    first.set(restriction.userId, { ...earlier, reason, restrictedBy });
  }
  return { restrictions: [...first.values()].sort((one, other) => one.restrictedAt - other.restrictedAt) };
}

/** Writes the consent grain to the user's partition, then sends the consent fact to the others. */
export async function gatherConsent(fan: Fan, { items }: Input<'consent'>): Promise<Output<'consent'>> {
  const homes = items.map(({ userId }) => homeOf(fan, userId));
  const outcomes = new Array<ConsentOutcome>(items.length);
  await Promise.all(
    [...Map.groupBy(items.keys(), (index) => homes[index]!)].map(async ([partition, indexes]) => {
      const answer = await fan.one(partition, 'consent', { items: indexes.map((index) => items[index]!) });
      indexes.forEach((index, place) => {
        outcomes[index] = answer.outcomes[place]!;
      });
    }),
  );
  await tell(
    fan,
    outcomes.flatMap((outcome) => ('fact' in outcome ? [outcome.fact] : [])),
  );
  return { outcomes };
}

function homeOf(fan: Fan, userId: string): number {
  return partitionFor({ grainType: 'consent', fields: { user_id: userId } }, fan.partitions, fan.context);
}

async function tell(fan: Fan, facts: readonly ConsentFact[]): Promise<void> {
  const others = fan.repeatable();
  const settled = await Promise.allSettled(
    Array.from({ length: fan.partitions }, async (_, partition) => {
      const foreign = facts.filter(({ userId }) => homeOf(fan, userId) !== partition);
      if (foreign.length > 0) await others.one(partition, 'consentFacts', { facts: foreign });
    }),
  );
  if (settled.some(({ status }) => status === 'rejected')) throw halfDone('the consent');
}

/** Keeps the latest fact for each user and purpose. */
export function mergeConsents(answers: readonly Output<'consents'>[]): Output<'consents'> {
  const last = new Map<string, ConsentFact>();
  for (const fact of answers.flatMap(({ facts }) => facts)) {
    const place = `${fact.userId}\u0000${fact.purpose}`;
    const known = last.get(place);
    if (known === undefined || known.atMs < fact.atMs || (known.atMs === fact.atMs && known.hash === ''))
      last.set(place, fact);
  }
  return { facts: [...last].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, fact]) => fact) };
}

/**
 * A page of a memory's users with a consent. Partitions with the same facts have the same page. If a consent is still on
 * its way, or each partition shows a bound caller other users, the page is cut from all users of all partitions.
 */
export async function gatherConsentPage(fan: Fan, input: Input<'consentPage'>): Promise<Output<'consentPage'>> {
  const pages = await fan.all('consentPage', input);
  const [first] = pages;
  if (first?.mark !== undefined && pages.every(({ mark }) => mark === first.mark)) {
    const restricted = restrictedOf(pages);
    return { ...first, users: first.users.map((user) => ({ ...user, restricted: restricted.has(user.userId) })) };
  }
  const answers = await fan.all('consentPage', { ...input, all: true });
  const { facts } = mergeConsents(answers.map(({ users }) => ({ facts: users.flatMap((user) => user.facts) })));
  const byUser = Map.groupBy(facts, ({ userId }) => userId);
  const order = new ConsentOrder();
  for (const [id, of] of byUser) order.add({ id, timeMs: Math.max(...of.map(({ atMs }) => atMs)) });
  const restricted = restrictedOf(answers);
  const { places, more } = order.page(input);
  const users = places.map(({ id: userId }) => ({
    userId,
    restricted: restricted.has(userId),
    facts: byUser.get(userId) ?? [],
  }));
  return { users, total: order.size, more };
}

/** Users whom a partition knows to be restricted: a restriction may not have reached every partition yet. */
function restrictedOf(answers: readonly Output<'consentPage'>[]): ReadonlySet<string> {
  return new Set(
    answers.flatMap(({ users }) => users.flatMap(({ userId, restricted }) => (restricted ? [userId] : []))),
  );
}

export function mergePolicyImpacts(answers: readonly Output<'policyImpact'>[]): Output<'policyImpact'> {
  return {
    grainsTotal: sumOf(answers, 'grainsTotal'),
    grainsExpiring: sumOf(answers, 'grainsExpiring'),
    grainsWithBlockedPii: sumOf(answers, 'grainsWithBlockedPii'),
    usersWithoutConsent: Buffer.concat(answers.map(({ usersWithoutConsent }) => usersWithoutConsent)),
  };
}

export function mergeRetentionStatus(answers: readonly Output<'retentionStatus'>[]): Output<'retentionStatus'> {
  const merged = new Map<string, RetentionNamespace>();
  for (const row of answers.flatMap(({ namespaces }) => namespaces)) {
    const known = merged.get(row.namespace);
    merged.set(row.namespace, known === undefined ? row : together(known, row));
  }
  // The memory counts as enforced when its last partition was.
  const enforced = answers.map(({ lastEnforcedMs }) => lastEnforcedMs);
  const last = enforced.includes(undefined) ? undefined : Math.min(...enforced.map((at) => at ?? 0));
  return defined({
    namespaces: [...merged.values()].sort((one, other) => (one.namespace < other.namespace ? -1 : 1)),
    defaultTtlDays: answers[0]?.defaultTtlDays ?? null,
    lastEnforcedMs: last,
  });
}

function together(one: RetentionNamespace, other: RetentionNamespace): RetentionNamespace {
  return defined({
    ...one,
    grains: one.grains + other.grains,
    expired: one.expired + other.expired,
    held: one.held + other.held,
    nextExpiryMs: least(one.nextExpiryMs, other.nextExpiryMs),
    oldestCreatedMs: least(one.oldestCreatedMs, other.oldestCreatedMs),
  });
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

export async function gatherEnforceRetention(
  fan: Fan,
  input: Input<'enforceRetention'>,
): Promise<Output<'enforceRetention'>> {
  const answers = await fan.repeatable().all('enforceRetention', input);
  const byNamespace = new Map<string, Output<'enforceRetention'>['byNamespace'][string]>();
  for (const [namespace, counts] of answers.flatMap((answer) => Object.entries(answer.byNamespace))) {
    const known = byNamespace.get(namespace) ?? { expired: 0, forgotten: 0, held: 0 };
    byNamespace.set(namespace, {
      expired: known.expired + counts.expired,
      forgotten: known.forgotten + counts.forgotten,
      held: known.held + counts.held,
    });
  }
  return {
    expired: sumOf(answers, 'expired'),
    forgotten: sumOf(answers, 'forgotten'),
    held: sumOf(answers, 'held'),
    goals: sumOf(answers, 'goals'),
    byNamespace: Object.fromEntries(byNamespace),
  };
}
