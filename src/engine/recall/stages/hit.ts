// A hit on its way through the stages, with the account of its score: what fusion gave it, and what each stage changed.

import { toNfc } from '../../base/nfc.ts';
import type { GrainView } from '../../calls/grain.ts';
import { CHANGES, type Change, type RecallSource } from '../../calls/recall.ts';
import type { JsonValue } from '../../grain/api/json-value.ts';

/** The terms of the text leg, in the order in which they add up to its relevance. */
export const TEXT_TERMS = [
  'bm25',
  'phrase',
  'vector',
  'near',
  'answer',
  'session',
  'role',
  'speaker',
  'time',
  'self',
] as const;
export type TextTerm = (typeof TEXT_TERMS)[number];

export interface StageBreakdown {
  /** What the stages began with: the relevance that fusion gave. */
  readonly base: number;
  /** Relevance by rank where several legs were fused, or where no words were asked for: then it is the base. */
  readonly rrf?: number;
  /** The raw sum of 1/(60 + rank) behind `rrf`, and the legs that it was taken over: another leg can be added to it. */
  readonly legs?: { readonly sum: number; readonly count: number };
  readonly bm25Rank?: number;
  /** Raw cosine with the query's vector. */
  readonly vectorScore?: number;
  /** The text leg's own terms: their sum is the base where it ran alone, otherwise they inform. */
  readonly terms?: Readonly<Partial<Record<TextTerm, number>>>;
  /** True when a model gave it its place, and with it its score. */
  readonly reranked?: boolean;
  /** What each stage that ran changed; a stage that did not run has no member. */
  readonly changes: Readonly<Partial<Record<Change, number>>>;
}

export interface StageHit {
  readonly grain: GrainView;
  /** The sum of the breakdown's base and changes, in their order. */
  readonly score: number;
  readonly breakdown: StageBreakdown;
  /** Found by words or vectors; false for what structure alone found, whose score nothing judges. */
  readonly judged: boolean;
  /** How strongly it matches, from 0 to 1, whatever else matched: what a minimum is held against instead of the score. */
  readonly strength?: number;
  readonly superseded: boolean;
  readonly recallSource: RecallSource;
  readonly conflictStatus?: 'current' | 'outdated';
  readonly relativeTime?: string;
  readonly explanation?: string;
}

/** The same hit after a stage that changed its score by `change`. A stage changes a hit once. */
export function changed(hit: StageHit, stage: Change, change: number): StageHit {
  const breakdown = { ...hit.breakdown, changes: { ...hit.breakdown.changes, [stage]: change } };
  return { ...hit, breakdown, score: scoreOf(breakdown) };
}

/** Base plus changes, in the order of the stages: the score, to the last bit. */
export function scoreOf({ base, changes }: StageBreakdown): number {
  let score = base;
  for (const stage of CHANGES) score += changes[stage] ?? 0;
  return score;
}

/** The best first; among equals the newest, then by hash. */
export function compareHits(a: StageHit, b: StageHit): number {
  return b.score - a.score || compareNewest(a, b);
}

/** The newest first, then by hash. */
export function compareNewest(a: StageHit, b: StageHit): number {
  if (a.grain.createdAtMs !== b.grain.createdAtMs) return b.grain.createdAtMs - a.grain.createdAtMs;
  return a.grain.hash < b.grain.hash ? -1 : a.grain.hash > b.grain.hash ? 1 : 0;
}

/** A field of the grain that is a text with something in it. */
export function textField(grain: GrainView, name: string): string | undefined {
  const value: JsonValue | undefined = Object.hasOwn(grain.fields, name) ? grain.fields[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function numberField(grain: GrainView, name: string): number | undefined {
  const value: JsonValue | undefined = Object.hasOwn(grain.fields, name) ? grain.fields[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** What a grain says, for stages that compare words. */
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

/** Hits of the same user that assert something of the same subject and relation; those without a triple are in none. */
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

/** As structural values are matched: NFC, without the space around them. */
export function exact(value: string): string {
  return toNfc(value).trim();
}

export function objectOf(hit: StageHit): string {
  return textField(hit.grain, 'object') ?? '';
}
