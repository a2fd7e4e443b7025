// Which grains another one speaks against: a live belief of the same subject and relation with another object.
import { tripleForm } from '../../grain/api-text.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';
import { ask, type Running } from './asks.ts';
import { account, bounds } from './bounds.ts';
import { calGrain } from './grain-of.ts';
import type { Run } from './session.ts';

/** Grains of a pair that are told. */
const GRAINS_MAX = 100;

/** The grains with `contestedBy` where there is a conflict; none is left out. */
export function* contested(grains: readonly CalGrain[], run: Run): Running<CalGrain[]> {
  const rivals = new Map<string, readonly CalGrain[]>();
  for (const grain of grains) {
    const pair = pairOf(grain);
    if (pair === undefined || rivals.has(pair.key)) continue;
    const selected = yield* ask('select', {
      filter: { grainTypes: ['belief'], subject: pair.subject, relation: pair.relation },
      tests: [],
      ...bounds(run),
      order: { by: 'hash' },
      take: GRAINS_MAX,
    });
    account(run, selected);
    rivals.set(
      pair.key,
      selected.grains.map((view) => calGrain(view, 1)),
    );
  }
  return grains.map((grain) => {
    const others = (rivals.get(pairOf(grain)?.key ?? '') ?? []).filter((other) => contradicts(grain, other));
    return others.length === 0 ? grain : { ...grain, contestedBy: others.map(({ hash }) => hash) };
  });
}

export interface Pair {
  readonly key: string;
  readonly subject: string;
  readonly relation: string;
}

/** What a grain speaks of; undefined for one that can contradict nothing: old versions, and what was taken back. */
export function pairOf(grain: CalGrain): Pair | undefined {
  if (grain.grainType !== 'belief' || grain.supersededBy !== undefined || isRetracted(grain)) return undefined;
  const subject = fieldValue(grain, 'subject');
  const relation = fieldValue(grain, 'relation');
  if (typeof subject !== 'string' || typeof relation !== 'string') return undefined;
  return { key: `${subject}\u0000${relation}`, subject, relation };
}

function isRetracted({ fields }: CalGrain): boolean {
  return fields['verification_status'] === 'retracted';
}

/** Of two grains of one pair. */
export function contradicts(grain: CalGrain, other: CalGrain): boolean {
  if (
    other.hash === grain.hash ||
    isRetracted(other) ||
    other.namespace !== grain.namespace ||
    other.userId !== grain.userId
  )
    return false;
  return tripleForm(String(fieldValue(grain, 'object'))) !== tripleForm(String(fieldValue(other, 'object')));
}
