// Refuses goal cycles over several partitions. Parent goals may lie in any partition, and each partition sees only its
// own grains.
import { EngineError } from '../../engine/base/errors.ts';
import { GOALS_ABOVE_MAX } from '../../engine/base/limits.ts';
import type { Input, JsonValue, Output } from '../protocol.ts';
import type { Fan } from './fan.ts';

type Versions = Output<'history'>['versions'];

/**
 * Throws VAL-E001 if the goal would become its own ancestor. Two concurrent supersedes do not see each other and can
 * still form a cycle.
 */
export async function refuseCircle(fan: Fan, { oldHash, fields }: Input<'supersede'>): Promise<void> {
  const waiting = hashesIn(fields['parent_goals']);
  if (waiting.length === 0) return;
  const asking = fan.withoutIdempotency();
  const own = await versionsOf(asking, oldHash);
  if (own[0]?.grainType !== 'goal') return;
  const chain = new Set([oldHash, ...own.map(({ hash }) => hash)]);
  const seen = new Set<string>();
  for (let hash = waiting.pop(), steps = 0; hash !== undefined; hash = waiting.pop(), steps++) {
    if (chain.has(hash)) throw refused('make the goal its own parent');
    if (seen.has(hash)) continue;
    if (steps >= GOALS_ABOVE_MAX) throw refused(`stand below more than ${GOALS_ABOVE_MAX} goals`);
    const versions = await versionsOf(asking, hash);
    for (const version of versions) seen.add(version.hash);
    waiting.push(...hashesIn(versions.at(-1)?.fields['parent_goals']));
  }
}

/** Versions, oldest first. Empty if the grain does not exist or the caller may not read it: the search ends there. */
async function versionsOf(fan: Fan, hash: string): Promise<Versions> {
  try {
    return (await fan.found('history', { hash })).versions;
  } catch (error) {
    if (error instanceof EngineError && /^(MEM|POL)-/.test(error.code)) return [];
    throw error;
  }
}

function hashesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
}

function refused(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`parent_goals\` ${issue}`, { details: [{ field: 'parent_goals', issue }] });
}
