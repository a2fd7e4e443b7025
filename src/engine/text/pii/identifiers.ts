// Fields that say to whom a grain belongs, or by which other grains are matched.
import { SOURCE_USERS } from '../../grain/api/source-users.ts';
import type { GrainType } from '../../grain/grain.ts';
import type { PiiCategory } from './categories.ts';

/**
 * Redacting these values would change the grain's owner, place or relations: consent, erasure and restriction would no
 * longer find it. `redact` refuses the write instead.
 */
const MATCHED: ReadonlySet<string> = new Set(
  (
    'namespace origin_namespace user_id session_id subject_did run_id entity_id tool_call_id call_batch_id ' +
    'correlation_id parent_task_id parent_message_id invalidation_policy source_users'
  ).split(' '),
);

/** The subject of a consent is copied from its grain to the consent facts. */
const MATCHED_OF_CONSENT: ReadonlySet<string> = new Set('scope grantee_did basis jurisdiction witness_dids'.split(' '));

/** Names of data subjects. */
const ACCOUNTS: ReadonlySet<string> = new Set(['user_id', 'subject_did', SOURCE_USERS]);

/** People sign in with these, so they can be account names. Other categories do not belong in such a field. */
const ACCOUNT_NAMES: ReadonlySet<PiiCategory> = new Set<PiiCategory>([
  'email',
  'phone',
  'person_name',
  'unique_id',
  'url',
]);

/** True for a field whose value is never replaced. */
export function isMatched(type: GrainType, field: string): boolean {
  return MATCHED.has(field) || (type === 'consent' && MATCHED_OF_CONSENT.has(field));
}

export function isAccount(field: string): boolean {
  return ACCOUNTS.has(field);
}

/** True when data of the category belongs in the field. */
export function isExpected(field: string, category: PiiCategory): boolean {
  return ACCOUNTS.has(field) && ACCOUNT_NAMES.has(category);
}
