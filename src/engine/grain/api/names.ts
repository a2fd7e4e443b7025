// The contract's field names of each type, as the API writes them. Their values must have the right type; every other name
// is an extra field, which accepts any JSON.
import { byType, type GrainType } from '../grain.ts';
import { GRAIN_TYPES } from '../types/table.ts';

/** Field names of every type. */
export const COMMON_NAMES: ReadonlySet<string> = new Set([
  'confidence',
  'tags',
  'structural_tags',
  'namespace',
  'user_id',
  'valid_from',
  'valid_to',
  'temporal_type',
  'related_to',
  'source_type',
  'importance',
  'created_at',
  'session_id',
  'derived_from',
  'embedding_text',
  'author_did',
  'origin_did',
  'origin_namespace',
  'verification_status',
  'processing_basis',
  'invalidation_policy',
  'supersession_justification',
  'context',
  'content_refs',
  'embedding_refs',
  'provenance_chain',
  'consolidation_level',
  'success_count',
  'failure_count',
  'superseded_by',
  'expires_at',
]);

const names = byType((type) => new Set([...COMMON_NAMES, ...GRAIN_TYPES[type].api.names.split(' ')]));

/** The contract's names of a type. */
export function contractNames(type: GrainType): ReadonlySet<string> {
  return names[type];
}

/** The contract's names of all types together. */
export const ALL_CONTRACT_NAMES: ReadonlySet<string> = new Set(Object.values(names).flatMap((those) => [...those]));

const aliases = byType(
  (type) => new Map([['structural_tags', 'tags'], ...Object.entries(GRAIN_TYPES[type].api.aliases)]),
);

/** Aliases of a type's names, each with its proper name. The proper name wins if a request has both. */
export function aliasesOf(type: GrainType): ReadonlyMap<string, string> {
  return aliases[type];
}

/** The proper name of a field that a request writes as `name`. */
export function properName(type: GrainType, name: string): string {
  return aliasesOf(type).get(name) ?? name;
}
