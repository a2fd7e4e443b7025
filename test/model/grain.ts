// A grain in the model: the codec's result for a request; the codec has its own tests.
import type { GrainFilter, GrainView } from '../../src/engine/calls/grain.ts';
import { addressOf } from '../../src/engine/grain/address.ts';
import { fromApi } from '../../src/engine/grain/api/input.ts';
import type { JsonObject } from '../../src/engine/grain/api/json-value.ts';
import { toApi } from '../../src/engine/grain/api/output.ts';
import { searchText, sessionOf, triple, tripleForm } from '../../src/engine/grain/api/text.ts';
import { decodeGrain, encodeGrain } from '../../src/engine/grain/codec/blob.ts';
import { sensitivityOf } from '../../src/engine/grain/codec/header.ts';
import { identityBytes } from '../../src/engine/grain/codec/identity.ts';
import { GrainError, toEngineError } from '../../src/engine/grain/error.ts';
import type { Grain } from '../../src/engine/grain/grain.ts';
import { type Facet, fieldKey } from '../../src/engine/index/parts/part.ts';
import { analyzer } from '../../src/engine/index/text/analyze.ts';
import { turnOf } from '../../src/engine/store/turn.ts';
import { type ListedGrain, valuesOf } from './lists.ts';

export const ANALYZER = analyzer('en');

export interface Prepared extends Omit<ListedGrain, 'place'> {
  readonly hash: string;
  readonly blob: Buffer;
  readonly grain: Grain;
  /** Equal for grains that state the same; undefined when it is never a duplicate. */
  readonly identity: string | undefined;
  readonly warnings: readonly string[];
  readonly verification: string;
}

/** A grain in a memory. Removed ones stay, because chains contain them. */
export interface ModelGrain extends Prepared, ListedGrain {
  readonly partition: number;
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
  const { subject, relation, object } = triple(grain);
  const shown = toApi(grain);
  const isAction = grain.type === 'action';
  const [user] = textsOf(fields['user_id']);
  return {
    hash: addressOf(blob),
    blob,
    grain,
    createdAtMs: Number(fields['created_at']),
    type: grain.type,
    namespace: String(fields['namespace']),
    user,
    session: sessionOf(grain),
    tags: textsOf(fields['structural_tags']),
    subject,
    relation,
    object,
    source: textsOf(fields['derived_from'])[0],
    fields: [...entriesOf(shown, LISTED), ...(isAction ? SUCCEEDED : [])],
    calls: isAction ? entriesOf(shown, ['tool_call_id']) : [],
    numbers: numbersOf(grain, shown),
    turn: turnOf(grain),
    identity: identity === undefined ? undefined : Buffer.from(identity).toString('hex'),
    terms: ANALYZER.analyze(searchText(grain)),
    warnings,
    verification,
  };
}

/** The fields whose values are listed, of the types that the requests have. */
const LISTED = ['source_type', 'role', 'tool_name', 'observer_id', 'observer_type', 'goal_state'];

/** The listed values that follow from an action: every one that is requested is a whole call that succeeded. */
const SUCCEEDED = [fieldKey('action_phase', 'complete'), fieldKey('is_error', 'false')];

function entriesOf(shown: JsonObject, names: readonly string[]): string[] {
  return names.flatMap((name) => textsOf(shown[name]).map((value) => fieldKey(name, value)));
}

const PRIORITIES = ['critical', 'high', 'medium', 'low'];

function numbersOf({ type, fields }: Grain, shown: JsonObject): ListedGrain['numbers'] {
  const numbers: Record<string, unknown> = {
    confidence: fields['confidence'],
    importance: fields['importance'],
    validFromMs: fields['valid_from'],
    expiresAtMs: Number(fields['expires_at']) * 1000,
    priority: type === 'goal' ? PRIORITIES.indexOf(String(shown['priority'])) + 1 : undefined,
    outcome: type === 'action' ? 0 : undefined,
  };
  return Object.fromEntries(
    Object.entries(numbers).filter(([, value]) => typeof value === 'number' && !Number.isNaN(value)),
  );
}

/** A text, or those of a list. */
function textsOf(value: unknown): string[] {
  return [value].flat().filter((text) => typeof text === 'string');
}

export function isCurrent(modelGrain: ModelGrain): boolean {
  return !modelGrain.removed && modelGrain.supersededBy === undefined;
}

export function isExpired({ numbers: { expiresAtMs } }: Prepared, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** The binding of a caller. */
export interface Bound {
  readonly namespace?: string | undefined;
  readonly userId?: string | undefined;
}

export function isWithin({ namespace, userId }: Bound, modelGrain: Prepared): boolean {
  return (
    (namespace === undefined || modelGrain.namespace === namespace) &&
    (userId === undefined || modelGrain.user === userId)
  );
}

/** True when the grain passes a filter. */
export function passes(filter: GrainFilter, bound: Bound, modelGrain: ModelGrain, nowMs: number): boolean {
  const { validFromMs, importance, confidence = 1 } = modelGrain.numbers;
  const inWindow = (value: number | undefined, low: number | undefined, high: number | undefined): boolean =>
    (low === undefined && high === undefined) ||
    (value !== undefined && (low === undefined || value >= low) && (high === undefined || value <= high));
  return (
    !modelGrain.removed &&
    isWithin(bound, modelGrain) &&
    (filter.includeSuperseded === true || modelGrain.supersededBy === undefined) &&
    !isExpired(modelGrain, nowMs) &&
    (filter.grainTypes === undefined || filter.grainTypes.includes(modelGrain.type)) &&
    has(modelGrain, 'namespace', filter.namespace) &&
    has(modelGrain, 'user', filter.userId) &&
    (has(modelGrain, 'session', filter.sessionId) || has(modelGrain, 'namespace', filter.sessionId)) &&
    has(modelGrain, 'subject', filter.subject) &&
    has(modelGrain, 'relation', filter.relation) &&
    has(modelGrain, 'object', filter.object) &&
    (has(modelGrain, 'subject', filter.entity) || has(modelGrain, 'object', filter.entity)) &&
    (filter.tags ?? []).every((tag) => has(modelGrain, 'tag', tag)) &&
    !(filter.excludeTags ?? []).some((tag) => has(modelGrain, 'tag', tag)) &&
    inWindow(modelGrain.createdAtMs, filter.createdFromMs, filter.createdToMs) &&
    inWindow(validFromMs, filter.validFromMs, filter.validToMs) &&
    (filter.confidenceMin === undefined || confidence >= filter.confidenceMin) &&
    (filter.importanceMin === undefined || (importance !== undefined && importance >= filter.importanceMin))
  );
}

/** True when the grain has the wanted value, or none is wanted. */
export function has(modelGrain: ModelGrain, facet: Facet, wanted: string | undefined): boolean {
  const isSide = facet === 'subject' || facet === 'relation' || facet === 'object';
  return wanted === undefined || valuesOf(modelGrain, facet).includes(isSide ? tripleForm(wanted) : wanted);
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
  // The link of its predecessor states its hash, and no longer opens when its user was erased.
  if (supersedes.supersedes !== undefined && (supersedes.unlinked || supersedes.hash !== last)) return undefined;
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
    ...(modelGrain.user === undefined ? {} : { userId: modelGrain.user }),
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
