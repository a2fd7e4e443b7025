// Sets `related_to` of a new grain to the stored grains that are nearest in meaning (service contract 8.12).
import { steadyMs } from '../../../engine/base/clock.ts';
import { GRAIN_TYPE_NAMES } from '../../../engine/grain/grain.ts';
import { GRAIN_TYPES } from '../../../engine/grain/types/table.ts';
import type { JsonObject, RecallHit } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { type Source, textOf } from '../remember/source.ts';

const RELATED_MAX = 5;
const COSINE_MIN = 0.8;
/** Candidates, more than are related, because only some have the same user and namespace. */
const NEAREST = 25;
/** A query without words, so that only vectors find grains. */
const NO_WORDS = '…';
/** Time in milliseconds that the search leaves for storing. */
const STORE_MS = 5_000;

export interface Related {
  readonly fields: JsonObject;
  /** The number of related grains that the search found; absent: none. */
  readonly related?: number | undefined;
  /** The reason why the search did not run. */
  readonly warning?: string | undefined;
}

/**
 * The fields with up to five current grains of the same user and namespace in `related_to`, the most similar first.
 * Unchanged if the fields set `related_to`. A stored grain with the same statement supplies its own relations, so that a
 * repeated add still counts as a duplicate.
 */
export async function withRelated({ grainType, fields }: Source, context: Context): Promise<Related> {
  const { related_to: given } = fields;
  const text = textOf({ grainType, fields });
  if ((given !== undefined && given !== null) || text === '') return { fields };
  const { queryVectors, embedders, clock } = context.services;
  if (embedders.nameOf(context.memory.vectorBackend ?? '') === 'none') return ignored(fields, 'there is no embedder');
  const waitMs = context.deadlineMs - steadyMs(clock) - STORE_MS;
  if (waitMs < 1) return ignored(fields, 'no time was left');
  const userId = named(fields['user_id']) ?? context.userId;
  const { vector, warning } = await queryVectors.of(context.memory, { text, userId }, waitMs);
  if (warning !== undefined) return ignored(fields, warning.replace(/^found by words alone: /, ''));
  if (vector === undefined) return { fields };
  const namespace = named(fields['namespace']) ?? context.namespace ?? DEFAULT_NAMESPACE;
  const { hits, vectorsBehind } = await context.call('recall', {
    query: NO_WORDS,
    vector: { ...vector, of: NO_WORDS },
    filter: { namespace, userId },
    limit: NEAREST,
    candidateLimit: NEAREST,
    structural: false,
  });
  if (vectorsBehind === true) return ignored(fields, "the memory's vectors are not ready yet");
  const near = hits
    .filter(({ grain, cosine = 0 }) => grain.userId === userId && cosine >= COSINE_MIN)
    .sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0));
  const same = near.find(
    ({ grain }) =>
      grain.grainType === grainType &&
      textOf(grain) === text &&
      (!DATED.has(grainType) || grain.createdAt === fields['created_at']),
  );
  if (same !== undefined) {
    const { related_to: known } = same.grain.fields;
    return { fields: Array.isArray(known) && known.length > 0 ? { ...fields, related_to: known } : fields };
  }
  if (near.length === 0) return { fields };
  const relations = near.slice(0, RELATED_MAX).map(relationTo);
  return { fields: { ...fields, related_to: relations }, related: relations.length };
}

const DEFAULT_NAMESPACE = 'default';
/** Types whose grains differ if only their times differ. */
const DATED: ReadonlySet<string> = new Set(GRAIN_TYPE_NAMES.filter((type) => GRAIN_TYPES[type].format.dated));

function relationTo({ grain, cosine = 0 }: RecallHit): JsonObject {
  return { hash: grain.hash, relation_type: 'similar', weight: Math.min(1, cosine) };
}

function named(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function ignored(fields: JsonObject, reason: string): Related {
  return { fields, warning: `auto_relate was ignored: ${reason}` };
}
