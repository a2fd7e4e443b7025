// Grains as the fake engine keeps them: their bytes, how they are shown, listed and scored.

import { EngineError } from '../../engine/errors.ts';
import { canonicalJson } from '../placement.ts';
import type {
  AddItem,
  GrainFilter,
  GrainView,
  Input,
  JsonObject,
  Output,
  RecallQuery,
  TextStatistics,
} from '../protocol.ts';

export interface Grain {
  readonly ordinal: number;
  readonly hash: string;
  readonly grainType: string;
  readonly fields: JsonObject;
  readonly createdAtMs: number;
  supersededBy?: string;
  supersedes?: string;
}

/** The fake's blob is canonical JSON, and its address the SHA-256 of it, as a grain's is of its blob. */
export function blobOf({ grainType, fields }: AddItem): string {
  return canonicalJson({ grainType, fields });
}

export function itemOf(blob: Uint8Array): AddItem {
  try {
    // Made by `blobOf`, or not a blob.
    return JSON.parse(Buffer.from(blob).toString()) as AddItem;
  } catch {
    throw new EngineError('FMT-E001');
  }
}

export function viewOf(grain: Grain): GrainView {
  const { namespace, user_id: userId } = grain.fields;
  return {
    hash: grain.hash,
    grainType: grain.grainType,
    fields: grain.fields,
    createdAt: Math.floor(grain.createdAtMs / 1_000),
    createdAtMs: grain.createdAtMs,
    namespace: typeof namespace === 'string' ? namespace : 'default',
    ...(typeof userId === 'string' ? { userId } : {}),
    ...(grain.supersededBy === undefined ? {} : { supersededBy: grain.supersededBy }),
    ...(grain.supersedes === undefined ? {} : { supersedes: grain.supersedes }),
    sizeBytes: blobOf(grain).length,
  };
}

export function matches(grain: Grain, { subject, relation, userId, includeSuperseded }: GrainFilter): boolean {
  return (
    (subject === undefined || grain.fields['subject'] === subject) &&
    (relation === undefined || grain.fields['relation'] === relation) &&
    (userId === undefined || grain.fields['user_id'] === userId) &&
    (includeSuperseded === true || grain.supersededBy === undefined)
  );
}

export function newestFirst(grains: readonly Grain[]): Grain[] {
  return grains.toSorted((a, b) => b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1));
}

export function list(
  all: readonly Grain[],
  { filter, limit, order, after, offset = 0 }: Input<'list'>,
): Output<'list'> {
  const sign = order === 'asc' ? 1 : -1;
  const inOrder = (a: Pick<Grain, 'createdAtMs' | 'hash'>, b: Pick<Grain, 'createdAtMs' | 'hash'>): number =>
    sign * (a.createdAtMs - b.createdAtMs) || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);
  const found = all.filter((grain) => matches(grain, filter)).toSorted(inOrder);
  const rest = found.filter((grain) => after === undefined || inOrder(grain, after) > 0).slice(offset);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const more = rest.length > page.length;
  return {
    grains: page.map(viewOf),
    total: found.length,
    more,
    ...(more && last !== undefined ? { next: { createdAtMs: last.createdAtMs, hash: last.hash } } : {}),
  };
}

/** The query's words that the grain has, by index. */
export function heldBy(grain: Grain, query: RecallQuery): number[] {
  const words = wordsOf(grain);
  return askedWords(query).flatMap((word, i) => (words.includes(word) ? [i] : []));
}

export function askedWords({ query }: RecallQuery): string[] {
  return [...new Set(query?.split(' '))];
}

export function bm25Of(
  grain: Grain,
  { query }: RecallQuery,
  { docs, totalLength, documentFrequency }: TextStatistics,
): number {
  const words = wordsOf(grain);
  let score = 0;
  for (const term of new Set(query?.split(' '))) {
    const df = documentFrequency[term] ?? 0;
    const tf = words.filter((word) => word === term).length;
    const idf = Math.log(1 + (docs - df + 0.5) / (df + 0.5));
    score += (idf * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * words.length * docs) / totalLength));
  }
  return score;
}

export function wordsOf({ fields }: Grain): string[] {
  return typeof fields['content'] === 'string' ? fields['content'].split(' ') : [];
}
