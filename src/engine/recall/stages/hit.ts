// A hit in the stages, with its score breakdown: the result of fusion and the change by each stage.

import { toNfc } from '../../base/nfc.ts';
import type { GrainView } from '../../calls/grain.ts';
import { CHANGES, type Change, type RecallSource } from '../../calls/recall.ts';
import type { JsonValue } from '../../grain/api/json-value.ts';

/** The terms of the text leg, in the order in which they add up to its score. */
export const TEXT_TERMS = [
  'bm25',
  'phrase',
  'vector',
  'near',
  'answer',
  'session',
  'pooled',
  'role',
  'speaker',
  'time',
  'self',
] as const;
export type TextTerm = (typeof TEXT_TERMS)[number];

export interface StageBreakdown {
  /** The score from fusion, before any stage. */
  readonly base: number;
  /** Score by rank, set if several legs were fused or the query has no words. It then equals `base`. */
  readonly rrf?: number | undefined;
  /** The raw sum of 1/(60 + rank) behind `rrf` and its number of legs, so that another leg can be added. */
  readonly legs?: { readonly sum: number; readonly count: number } | undefined;
  readonly bm25Rank?: number | undefined;
  /** Raw cosine with the query's vector. */
  readonly vectorScore?: number | undefined;
  /** The text leg's terms. They add up to `base` if only the text leg ran; otherwise they are informative only. */
  readonly terms?: Readonly<Partial<Record<TextTerm, number>>> | undefined;
  /** True if a model decided its place and thereby its score. */
  readonly reranked?: boolean | undefined;
  /** The change by each stage that ran. */
  readonly changes: Readonly<Partial<Record<Change, number>>>;
}

export interface StageHit {
  readonly grain: GrainView;
  /** The sum of the breakdown's base and changes, in their order. */
  readonly score: number;
  readonly breakdown: StageBreakdown;
  /** True if found by words or vectors; false for a hit by structure only, whose score measures nothing. */
  readonly judged: boolean;
  /** The probability that it bears on the query. Minimum scores are compared with this. Absent for structure only. */
  readonly relevance?: number | undefined;
  /** How well it matches, 0 to 1, independent of other hits. */
  readonly strength?: number | undefined;
  readonly superseded: boolean;
  /** True if it does not meet all operators of the question. */
  readonly unmet?: boolean | undefined;
  readonly recallSource: RecallSource;
  readonly conflictStatus?: 'current' | 'outdated' | undefined;
  readonly relativeTime?: string | undefined;
  readonly explanation?: string | undefined;
}

/** The same hit after a stage that changed its score by `change`. A stage changes a hit once. */
export function changed(hit: StageHit, stage: Change, change: number): StageHit {
  const breakdown = { ...hit.breakdown, changes: { ...hit.breakdown.changes, [stage]: change } };
  return { ...hit, breakdown, score: scoreOf(breakdown) };
}

/** The score: base plus changes in stage order, bit-identical. */
export function scoreOf({ base, changes }: StageBreakdown): number {
  let score = base;
  for (const stage of CHANGES) score += changes[stage] ?? 0;
  return score;
}

/** Best first; ties by newest, then hash. */
export function compareHits(a: StageHit, b: StageHit): number {
  return b.score - a.score || compareNewest(a, b);
}

/** Newest first, then by hash. */
export function compareNewest(a: StageHit, b: StageHit): number {
  if (a.grain.createdAtMs !== b.grain.createdAtMs) return b.grain.createdAtMs - a.grain.createdAtMs;
  return a.grain.hash < b.grain.hash ? -1 : a.grain.hash > b.grain.hash ? 1 : 0;
}

/** A field of the grain, if it is a non-empty string. */
export function textField(grain: GrainView, name: string): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(grain.fields, name) ? grain.fields[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberField(grain: GrainView, name: string): number | undefined {
  const value: JsonValue | undefined = Object.hasOwn(grain.fields, name) ? grain.fields[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The text of a grain, for stages that compare words. */
export function textOf(grain: GrainView): string {
  const parts: string[] = [];
  for (const name of TEXT_FIELDS) {
    const text = textField(grain, name);
    if (text !== undefined) parts.push(text);
  }
  return parts.join(' ');
}

const TEXT_FIELDS = [
  'subject',
  'relation',
  'object',
  'content',
  'description',
  'conclusion',
  'agreed_content',
  'tool_name',
];

/** The triple that a grain asserts; undefined for one without all three. */
export function tripleOf(grain: GrainView): { subject: string; relation: string; object: string } | undefined {
  const subject = textField(grain, 'subject');
  const relation = textField(grain, 'relation');
  const object = textField(grain, 'object');
  return subject === undefined || relation === undefined || object === undefined
    ? undefined
    : { subject, relation, object };
}

/** Groups hits by user, subject and relation. Hits without a triple belong to no group. */
export function tripleGroups(hits: readonly StageHit[]): StageHit[][] {
  const groups = new Map<string, StageHit[]>();
  for (const hit of hits) {
    const triple = tripleOf(hit.grain);
    if (triple === undefined) continue;
    const { subject, relation } = triple;
    const key = JSON.stringify([hit.grain.userId ?? null, exact(subject), exact(relation)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [hit]);
    else group.push(hit);
  }
  return [...groups.values()];
}

/** The form in which structural values are compared: NFC, trimmed. */
export function exact(value: string): string {
  return toNfc(value).trim();
}

export function objectOf(hit: StageHit): string {
  return textField(hit.grain, 'object') ?? '';
}
