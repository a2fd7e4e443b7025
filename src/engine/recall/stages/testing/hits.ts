// Hits for the tests of stages.
import { defined } from '../../../base/defined.ts';
import type { GrainView } from '../../../calls/grain.ts';
import type { RecallQuery } from '../../../calls/recall.ts';
import type { JsonObject } from '../../../grain/api/json-value.ts';
import type { StageHit } from '../hit.ts';

/** An instant of the past, ms. */
export const NOW_MS = 1_700_000_000_000;

let made = 0;

export interface Made {
  readonly name?: string | undefined;
  readonly score?: number | undefined;
  readonly fields?: JsonObject | undefined;
  readonly grainType?: string | undefined;
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
  readonly ageMs?: number | undefined;
  readonly superseded?: boolean | undefined;
  readonly judged?: boolean | undefined;
  readonly strength?: number | undefined;
  readonly relevance?: number | undefined;
}

/** A hash of 64 hex digits that begins with a name's letters. */
export function hashOf(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64);
}

export function grain({
  name,
  fields = {},
  grainType = 'belief',
  namespace = 'default',
  userId,
  ageMs = 0,
}: Made): GrainView {
  const createdAtMs = NOW_MS - ageMs;
  return defined({
    hash: hashOf(name ?? `g${made++}`),
    grainType,
    fields: { ...fields, namespace },
    createdAt: Math.floor(createdAtMs / 1000),
    createdAtMs,
    namespace,
    userId,
    sizeBytes: 100,
  });
}

export function hit(given: Made = {}): StageHit {
  const score = given.score ?? 0.5;
  return {
    grain: grain(given),
    score,
    breakdown: { base: score, terms: { bm25: score }, changes: {} },
    judged: given.judged ?? true,
    strength: given.strength,
    relevance: given.relevance,
    superseded: given.superseded ?? false,
    recallSource: 'primary',
  };
}

export function belief(name: string, subject: string, relation: string, object: string, given: Made = {}): StageHit {
  return hit({ name, ...given, fields: { subject, relation, object, ...given.fields } });
}

/** The names with which the hits were made. */
export function names(hits: readonly StageHit[]): string[] {
  return hits.map(({ grain: { hash } }) => Buffer.from(hash, 'hex').toString().replace(/\0+$/, ''));
}

export function query(given: Partial<RecallQuery> = {}): RecallQuery {
  return { query: 'tea', filter: {}, limit: 20, candidateLimit: 100, structural: false, ...given };
}
