// Finds contradicted grains: another live belief has the same subject and relation, and a different object.

import { ask } from '../../asking/asking.ts';
import type { FieldTest, Spoken, Stand } from '../../calls/cal.ts';
import { tripleForm } from '../../grain/api/text.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';
import { bounds, charge } from './bounds.ts';
import { mentions } from './field-test.ts';
import { calGrain } from './grain-of.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import type { Outcome } from './stages.ts';

/** Maximum number of contradicting grains to return for a grain. */
const RIVALS_LISTED_MAX = 100;
/** Maximum number of beliefs to examine for one pair, namespace and user. */
const LOOKED_AT_MAX = 1_000;

/** All grains, with `contestedBy` set on contradicted ones. */
export function* contested(grains: readonly CalGrain[], run: Run): Running<CalGrain[]> {
  const rivals = new Map<string, readonly CalGrain[]>();
  for (const grain of grains) {
    const pair = pairOf(grain);
    if (pair === undefined || rivals.has(standOf(grain, pair))) continue;
    const { namespace, userId } = grain;
    const selected = yield* ask('select', {
      filter: {
        grainTypes: ['belief'],
        subject: pair.subject,
        relation: pair.relation,
        // Only beliefs of the same namespace and user can contradict it.
        namespace: namespace === '' ? undefined : namespace,
        userId,
      },
      tests: [],
      ...bounds(run),
      order: { by: 'hash' },
      take: LOOKED_AT_MAX,
    });
    charge(run, selected);
    rivals.set(
      standOf(grain, pair),
      selected.grains.map((view) => calGrain(view, 1)),
    );
  }
  return grains.map((grain) => {
    const pair = pairOf(grain);
    const known = pair === undefined ? [] : (rivals.get(standOf(grain, pair)) ?? []);
    const others = known.filter((other) => contradicts(grain, other)).slice(0, RIVALS_LISTED_MAX);
    return others.length === 0 ? grain : { ...grain, contestedBy: others.map(({ hash }) => hash) };
  });
}

/** True if a stage shows which of the grains are contested. */
export function showsContested({ select, project }: Pick<Outcome, 'select' | 'project'>): boolean {
  const projected = project?.flatMap(({ fields }) => fields.map(({ word }) => word));
  return [...(select ?? []), ...(projected ?? [])].includes('contradicted');
}

/**
 * Subject and relation of a belief; undefined for grains that contradict nothing, such as old versions and retracted
 * ones.
 */
export function pairOf(grain: CalGrain): Spoken | undefined {
  const isOld = grain.supersededBy !== undefined || grain.isSuperseded === true;
  if (grain.grainType !== 'belief' || isOld || isRetracted(grain)) return undefined;
  const subject = fieldValue(grain, 'subject');
  const relation = fieldValue(grain, 'relation');
  if (typeof subject !== 'string' || typeof relation !== 'string') return undefined;
  return { subject: tripleForm(subject), relation: tripleForm(relation) };
}

/** A key of the pair. */
export function pairName({ subject, relation }: Spoken): string {
  return JSON.stringify([subject, relation]);
}

/** A key of the pair with its namespace and user. Only grains with the same key can contradict each other. */
export function standOf({ namespace, userId }: Pick<CalGrain, 'namespace' | 'userId'>, pair: Spoken): string {
  return JSON.stringify([pair.subject, pair.relation, namespace, userId ?? null]);
}

/** A belief's object in the form in which objects are compared. */
export function objectOf(grain: CalGrain): string {
  return tripleForm(String(fieldValue(grain, 'object')));
}

function isRetracted({ fields }: CalGrain): boolean {
  return fields['verification_status'] === 'retracted';
}

/** Compares two grains of the same pair. */
export function contradicts(grain: CalGrain, other: CalGrain): boolean {
  if (
    other.hash === grain.hash ||
    isRetracted(other) ||
    other.namespace !== grain.namespace ||
    other.userId !== grain.userId
  )
    return false;
  return objectOf(grain) !== objectOf(other);
}

/** True if a condition asks for contradicted grains. */
export function needsRivals(tests: readonly FieldTest[]): boolean {
  return tests.some((test) => mentions(test, 'contradicted'));
}

/** Keys with more than one object, over the stands of all partitions together. */
export function contestedOf(stands: readonly Stand[]): string[] {
  const objects = new Map<string, Set<string>>();
  for (const { of, objects: some } of stands) {
    const all = objects.get(of) ?? new Set();
    for (const object of some) all.add(object);
    objects.set(of, all);
  }
  return [...objects].flatMap(([of, all]) => (all.size > 1 ? [of] : []));
}
