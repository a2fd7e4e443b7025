// Finds the candidates that a recall's conditions excluded, and the condition responsible. The legs apply conditions
// while they search, so that `limit` means `limit` results, and never see these candidates. This file therefore
// searches again without the conditions.
import type { CallContext } from '../../calls/context.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import type { Excluded, RecallQuery } from '../../calls/recall.ts';
import type { ExclusionReason } from '../../govern/trail/exclusions.ts';
import type { Doc, IndexPart } from '../../index/parts/part.ts';
import type { TextQuery } from '../../index/text/query.ts';
import { docBits, searchText, type TextStatistics } from '../../index/text/search.ts';
import type { Store } from '../../store/store.ts';
import { ExclusionTally } from '../exclusion-tally.ts';
import { placesIn } from '../legs/candidates.ts';
import { hiddenCounts } from '../legs/counted.ts';
import { inOrder } from '../legs/ordered.ts';
import type { VectorLeg } from '../legs/vector-leg.ts';
import { filterPart, visibleIn } from './filter.ts';
import type { HiddenReason } from './hidden.ts';
import type { NameTest } from './named.ts';

export interface ExclusionSearch {
  readonly store: Store;
  readonly context: CallContext;
  readonly parts: readonly IndexPart[];
  readonly query: RecallQuery;
  readonly facets: readonly NameTest[];
  /** The analysed query; undefined if there is none. */
  readonly text: TextQuery | undefined;
  readonly statistics: TextStatistics;
  readonly vectors: VectorLeg | undefined;
}

/**
 * Reports only grains that the caller may see. Grains hidden by a policy or a time to live are counted in total,
 * independent of the query, and never named: a count that depends on the query would reveal their content.
 */
export function excludedByConditions(search: ExclusionSearch): Excluded {
  const { store, context, parts } = search;
  const seen = parts.map((part) => visibleIn(store, part, { includeSuperseded: true }, context));
  const reasons = parts.map((part) => reasonsIn(search, part));
  const excluded = new ExclusionTally();
  for (const [reason, count] of Object.entries(hiddenCounts(store, parts, context)))
    excluded.count(reason as HiddenReason, count); // a key of those counts
  const met = new Set<number>();
  const meet = (part: number, doc: Doc): void => {
    const ordinal = parts[part]!.ordinals[doc]!;
    if (met.has(ordinal)) return;
    met.add(ordinal);
    const reason = reasons[part]!(doc);
    if (reason !== undefined) excluded.add(reason, () => store.addressAt(ordinal) ?? '');
  };
  for (const { part, doc } of found(search, seen)) meet(part, doc);
  return excluded;
}

function* found(
  { store, parts, query, text, statistics, vectors }: ExclusionSearch,
  seen: readonly ((doc: Doc) => boolean)[],
): Iterable<{ readonly part: number; readonly doc: Doc }> {
  const limit = query.candidateLimit;
  if (text !== undefined) {
    const searched = parts.map((part, at) => ({
      text: part.text,
      removed: (doc: Doc) => !seen[at]!(doc),
      allowed: undefined,
      createdAtMs: part.createdAtMs,
      ordinals: part.ordinals,
      chronological: part.chronological,
    }));
    yield* searchText(searched, text, statistics, limit);
    if (vectors !== undefined && query.wordsOnly !== true) {
      const placeOf = placesIn(parts);
      const places = new Map<number, { part: number; doc: Doc }>();
      const isAllowed = (ordinal: number): boolean => {
        const place = placeOf(ordinal);
        if (place === undefined || !seen[place.part]!(place.doc)) return false;
        places.set(ordinal, place);
        return true;
      };
      for (const { ordinal } of vectors.search({ limit, isAllowed })) yield places.get(ordinal)!;
    }
  }
  if (text !== undefined && !query.structural) return;
  const { subject, relation, object, entity } = query.filter;
  const triple: GrainFilter = {
    includeSuperseded: true,
    subject,
    relation,
    object,
    entity,
  };
  const filters = parts.map((part, at) => ({ docs: listOf(store, part, triple), test: seen[at]! }));
  yield* inOrder(store, parts, filters, { limit, order: 'desc' });
}

/** A context without a binding: visibility to the caller is checked separately. */
const NOBODY: CallContext = { memory: 0, partition: 0, actor: '', requestId: '' };

function listOf(store: Store, part: IndexPart, filter: GrainFilter): Uint32Array | undefined {
  return filterPart(store, part, filter, NOBODY).docs;
}

/** Why a visible doc is excluded: the first condition that it fails, in the contract's order. */
function reasonsIn(
  { store, query, facets }: ExclusionSearch,
  part: IndexPart,
): (doc: Doc) => ExclusionReason | undefined {
  const conditions = conditionsOf(query.filter, facets).map(({ reason, filter, terms }) => {
    const { docs, test } = filterPart(store, part, { includeSuperseded: true, ...filter }, NOBODY, terms);
    const bits = docs === undefined ? undefined : docBits(docs, part.docCount);
    const holds = (doc: Doc): boolean =>
      (bits === undefined || (bits.words[doc >>> 5]! & (1 << (doc & 31))) !== 0) && test(doc);
    return { reason, holds };
  });
  const { superseded } = store.index;
  return (doc) => {
    const failed = conditions.find(({ holds }) => !holds(doc));
    if (failed !== undefined) return failed.reason;
    return query.filter.includeSuperseded !== true && superseded.get(part.ordinals[doc]!) ? 'superseded' : undefined;
  };
}

interface Condition {
  readonly reason: ExclusionReason;
  readonly filter: GrainFilter;
  readonly terms: readonly NameTest[];
}

/** Filter members that are one condition each. The other members hold several. */
type Single = keyof Omit<GrainFilter, 'includeSuperseded' | 'anyOf' | 'numbers'>;

const REASON_OF: Readonly<Record<Single, ExclusionReason>> = {
  scope: 'scope_mismatch',
  namespace: 'namespace_mismatch',
  sessionId: 'namespace_mismatch',
  harnessDefinition: 'namespace_mismatch',
  userId: 'user_mismatch',
  forUser: 'user_mismatch',
  grainTypes: 'type_mismatch',
  tags: 'tag_mismatch',
  excludeTags: 'tag_excluded',
  subject: 'subject_mismatch',
  relation: 'relation_mismatch',
  object: 'object_mismatch',
  subjectContains: 'subject_mismatch',
  objectContains: 'object_mismatch',
  entity: 'entity_mismatch',
  addresses: 'entity_mismatch',
  otherThan: 'entity_mismatch',
  either: 'entity_mismatch',
  except: 'entity_mismatch',
  verification: 'entity_mismatch',
  addressPrefix: 'entity_mismatch',
  createdFromMs: 'time_out_of_range',
  createdToMs: 'time_out_of_range',
  validFromMs: 'time_out_of_range',
  validToMs: 'time_out_of_range',
  timeFromMs: 'time_out_of_range',
  timeToMs: 'time_out_of_range',
  eitherTime: 'time_out_of_range',
  confidenceMin: 'below_confidence',
  importanceMin: 'below_importance',
};

const REASON_OF_FACET: Readonly<
  Partial<Record<NonNullable<GrainFilter['anyOf']>[number]['facet'] | NameTest['facet'], ExclusionReason>>
> = {
  type: 'type_mismatch',
  namespace: 'namespace_mismatch',
  session: 'namespace_mismatch',
  user: 'user_mismatch',
  tag: 'tag_mismatch',
  subject: 'subject_mismatch',
  relation: 'relation_mismatch',
  object: 'object_mismatch',
};

function conditionsOf(filter: GrainFilter, facets: readonly NameTest[]): Condition[] {
  const conditions: Condition[] = [];
  for (const [name, reason] of Object.entries(REASON_OF)) {
    const value = filter[name as keyof typeof REASON_OF]; // a key of the table
    if (value !== undefined) conditions.push({ reason, filter: { [name]: value }, terms: [] });
  }
  for (const one of filter.numbers ?? []) {
    const reason = one.field === 'confidence' ? 'below_confidence' : 'below_importance';
    conditions.push({ reason, filter: { numbers: [one] }, terms: [] });
  }
  for (const one of filter.anyOf ?? [])
    conditions.push({ reason: REASON_OF_FACET[one.facet] ?? 'entity_mismatch', filter: { anyOf: [one] }, terms: [] });
  for (const term of facets) {
    const mismatch = REASON_OF_FACET[term.facet] ?? 'entity_mismatch';
    const reason = term.facet === 'tag' && term.negated ? 'tag_excluded' : mismatch;
    conditions.push({ reason, filter: {}, terms: [term] });
  }
  return conditions;
}
