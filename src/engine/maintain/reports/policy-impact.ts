// Estimates the effect of rules on stored grains. It counts and changes nothing.
import { hash } from 'node:crypto';
import { IMPACT_OPENED_MAX } from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import { checkPii } from '../../govern/policy/pii-needs.ts';
import { flat, type Rules, withLoosest } from '../../govern/policy/rules.ts';
import type { PolicyValue } from '../../govern/policy/values.ts';
import type { Sliced } from '../../index/files/section.ts';
import { timesUnder } from '../../recall/filter/hidden.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { readInSlices } from '../housekeeping/slices.ts';
import { USER_HASH_BYTES, userNames } from './users.ts';

type Impact = MemoryCalls['policyImpact'];

export function policyImpact(
  store: Store,
  memory: Memory,
  { purpose }: CallContext,
  { rules }: Impact['input'],
): Promise<Impact['output']> {
  const proposed = rules === undefined ? memory.governed.rules : withLoosest(flat(rules as PolicyValue)); // JSON of rules
  return readInSlices(store, steps(store, memory, proposed, purpose ?? 'storage'));
}

/** For personal data only the newest IMPACT_OPENED_MAX grains are examined, as each must be read. */
function* steps(store: Store, memory: Memory, rules: Rules, purpose: string): Sliced<Impact['output']> {
  const nowMs = store.clock.nowMs();
  const keepsOut = rules['pii.write_action'] === 'block' || rules['pii.write_action'] === 'require_consent';
  const counts = { grainsTotal: 0, grainsExpiring: 0, grainsWithBlockedPii: 0 };
  let opened = 0;
  for (const part of store.parts(memory.number).toReversed()) {
    const expires = part.numbers('expiresAtMs');
    const ttlMs = timesUnder(part, rules);
    for (let doc = part.docCount - 1; doc >= 0; doc--) {
      const ordinal = part.ordinals[doc]!;
      if (store.index.removed.get(ordinal)) continue;
      counts.grainsTotal += 1;
      const hasEnded = (expires?.[doc] ?? Number.NaN) <= nowMs;
      if (hasEnded || part.createdAtMs[doc]! + ttlMs[doc]! <= nowMs) counts.grainsExpiring += 1;
      if (keepsOut && opened < IMPACT_OPENED_MAX) {
        opened += 1;
        const stored = store.readGrain(memory, ordinal);
        const refusal =
          stored &&
          checkPii(rules, stored.grain, purpose).needs?.refusal((wanted) => {
            const { user_id: user } = stored.grain.fields;
            return typeof user === 'string' && memory.governed.isGranted(user, wanted, nowMs);
          });
        if (refusal !== undefined) counts.grainsWithBlockedPii += 1;
      }
      // Searching an opened grain for personal data takes as long as many grains that are not opened.
      if (keepsOut || counts.grainsTotal % 64 === 0) yield;
    }
  }
  const without: Buffer[] = [];
  if (rules['consent.mode'] === 'opt_in')
    for (const name of userNames(store, memory)) {
      if (name !== undefined && !memory.governed.isGranted(name, purpose, nowMs))
        without.push(hash('sha256', name, 'buffer').subarray(0, USER_HASH_BYTES));
      yield;
    }
  return { ...counts, usersWithoutConsent: Buffer.concat(without) };
}
