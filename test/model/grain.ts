// A grain in the model: the codec's result for a request; the codec has its own tests.
import { hash as digest } from 'node:crypto';
import type { GrainView } from '../../src/engine/calls/grain.ts';
import { addressOf } from '../../src/engine/grain/address.ts';
import { fromApi } from '../../src/engine/grain/api/input.ts';
import type { JsonObject } from '../../src/engine/grain/api/json-value.ts';
import { toApi } from '../../src/engine/grain/api/output.ts';
import { searchText, sessionOf, type Triple, triple } from '../../src/engine/grain/api/text.ts';
import { decodeGrain, encodeGrain } from '../../src/engine/grain/codec/blob.ts';
import { sensitivityOf } from '../../src/engine/grain/codec/header.ts';
import { identityBytes } from '../../src/engine/grain/codec/identity.ts';
import { GrainError, toEngineError } from '../../src/engine/grain/error.ts';
import type { Grain } from '../../src/engine/grain/grain.ts';
import type { AnalyzedText } from '../../src/engine/index/parts/part.ts';
import { analyzer } from '../../src/engine/index/text/analyze.ts';

export const ANALYZER = analyzer('en');

export interface Prepared {
  readonly hash: string;
  readonly blob: Buffer;
  readonly grain: Grain;
  readonly createdAtMs: number;
  readonly namespace: string;
  readonly userId: string | undefined;
  readonly session: string | undefined;
  readonly tags: readonly string[];
  readonly triple: Triple;
  /** Equal for grains that state the same; undefined when it is never a duplicate. */
  readonly identity: string | undefined;
  readonly terms: AnalyzedText;
  readonly warnings: readonly string[];
  readonly verification: string;
}

/** A grain in a memory. Removed ones stay, because chains contain them. */
export interface ModelGrain extends Prepared {
  readonly partition: number;
  /** Order of writing within the memory. */
  readonly place: number;
  removed: boolean;
  /** Erased with the key of its user: its hash cannot be known any more. */
  erased: boolean;
  /** Forgotten before its user was erased: links to it no longer open. */
  unlinked: boolean;
  /** Removed because it named an erased grain; a version without that name may have taken its place. */
  redacted: boolean;
  supersededBy: ModelGrain | undefined;
  supersedes: ModelGrain | undefined;
  verified: string;
}

/** Throws the engine's EngineError. */
export function prepare(grainType: string, fields: JsonObject, nowMs: number): Prepared {
  const api = fromApi(grainType, fields, { nowMs });
  try {
    const encoded = encodeGrain(
      api.type,
      api.fields,
      api.sensitivity === undefined ? {} : { sensitivity: api.sensitivity },
    );
    return describe(encoded.blob, [...api.warnings, ...encoded.warnings], api.verificationStatus ?? '');
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'api');
    throw error;
  }
}

export function prepareBlob(blob: Uint8Array): Prepared {
  try {
    return describe(Buffer.from(blob), [], '');
  } catch (error) {
    if (error instanceof GrainError) throw toEngineError(error, 'import');
    throw error;
  }
}

/** The grain with other fields and the same age; undefined when no such grain is valid. */
export function reencoded({ grain }: Prepared, fields: Grain['fields']): Prepared | undefined {
  try {
    return describe(encodeGrain(grain.typeString, fields, { sensitivity: sensitivityOf(grain.header) }).blob, [], '');
  } catch (error) {
    if (error instanceof GrainError) return undefined;
    throw error;
  }
}

function describe(blob: Buffer, warnings: readonly string[], verification: string): Prepared {
  const grain = decodeGrain(blob);
  const { fields } = grain;
  const identity = identityBytes(blob);
  const userId = fields['user_id'];
  const tags = fields['structural_tags'];
  return {
    hash: addressOf(blob),
    blob,
    grain,
    createdAtMs: Number(fields['created_at']),
    namespace: String(fields['namespace']),
    userId: typeof userId === 'string' ? userId : undefined,
    session: sessionOf(grain),
    tags: Array.isArray(tags) ? tags.map(String) : [],
    triple: triple(grain),
    identity: identity === undefined ? undefined : digest('sha256', identity, 'hex'),
    terms: ANALYZER.analyze(searchText(grain)),
    warnings,
    verification,
  };
}

export function isCurrent(modelGrain: ModelGrain): boolean {
  return !modelGrain.removed && modelGrain.supersededBy === undefined;
}

export function isExpired(modelGrain: Prepared, nowMs: number): boolean {
  const expires = numberOf(modelGrain, 'expires_at');
  return expires !== undefined && expires * 1000 <= nowMs;
}

/** A number of the grain, in the units of a filter. */
export function numberOf(modelGrain: Prepared, field: 'confidence' | 'importance' | 'valid_from' | 'expires_at') {
  const value = modelGrain.grain.fields[field];
  return typeof value === 'number' ? value : undefined;
}

/** The binding of a caller. */
export interface Bound {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
}

export function isWithin({ namespace, userId }: Bound, modelGrain: Prepared): boolean {
  return (
    (namespace === undefined || modelGrain.namespace === namespace) &&
    (userId === undefined || modelGrain.userId === userId)
  );
}

export function shownFields(modelGrain: ModelGrain, caller: Bound): JsonObject {
  const predecessor = predecessorOf(modelGrain)?.hash;
  const fields = toApi(modelGrain.grain, predecessor === undefined ? {} : { predecessor });
  if (modelGrain.verified !== '') fields['verification_status'] = modelGrain.verified;
  const successor = successorOf(modelGrain, caller);
  if (successor !== undefined) fields['superseded_by'] = successor;
  return fields;
}

/**
 * The hash that a version states it superseded. An upsert does not state it; for a forgotten version its last source is
 * used. The hash of an erased one is not shown. No request names a source that is in the memory.
 */
function predecessorOf({
  grain,
  supersedes,
}: ModelGrain): { readonly hash: string; readonly isErased?: true } | undefined {
  const sources = grain.fields['derived_from'];
  const last = Array.isArray(sources) ? sources.at(-1) : undefined;
  if (supersedes === undefined || typeof last !== 'string') return undefined;
  if (!supersedes.removed) return { hash: supersedes.hash };
  // Its origin states its type.
  if (supersedes.supersedes !== undefined && supersedes.hash !== last) return undefined;
  return supersedes.erased || supersedes.redacted ? { hash: last, isErased: true } : { hash: last };
}

/** The hash of the next version that no erasure removed, unless that is outside the caller's binding. */
export function successorOf({ supersededBy }: ModelGrain, caller: Bound): string | undefined {
  let next = supersededBy;
  while (next !== undefined && (next.erased || next.redacted || next.unlinked)) next = next.supersededBy;
  const isBound = caller.namespace !== undefined || caller.userId !== undefined;
  if (next === undefined || (isBound && (next.removed || !isWithin(caller, next)))) return undefined;
  return next.hash;
}

export function viewOf(modelGrain: ModelGrain, caller: Bound): GrainView {
  const successor = successorOf(modelGrain, caller);
  const before = predecessorOf(modelGrain);
  const predecessor = before?.isErased === true ? undefined : before?.hash;
  return {
    hash: modelGrain.hash,
    grainType: modelGrain.grain.type,
    fields: shownFields(modelGrain, caller),
    createdAt: Math.floor(modelGrain.createdAtMs / 1000),
    createdAtMs: modelGrain.createdAtMs,
    namespace: modelGrain.namespace,
    ...(modelGrain.userId === undefined ? {} : { userId: modelGrain.userId }),
    ...(successor === undefined ? {} : { supersededBy: successor }),
    ...(successor === undefined && modelGrain.supersededBy !== undefined ? { isSuperseded: true } : {}),
    ...(predecessor === undefined ? {} : { supersedes: predecessor }),
    sizeBytes: modelGrain.blob.length,
  };
}

/** Sorts by creation time in the requested order, then by ascending address. */
export function inOrder(order: 'asc' | 'desc'): (a: Prepared, b: Prepared) => number {
  const sign = order === 'asc' ? 1 : -1;
  return (a, b) => sign * (a.createdAtMs - b.createdAtMs) || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0);
}
