// What a policy makes of the personal data in a grain that is to be written. Pure; asked before the grain is encoded, so
// that what is redacted is in no hash.
import { unreachable } from '../../assert.ts';
import { EngineError } from '../../errors.ts';
import type { GrainType } from '../../grain/grain.ts';
import { Float, setOwn, type Value, type ValueMap } from '../../grain/value.ts';
import { type PiiCategory, SENSITIVE_CATEGORIES } from './categories.ts';
import type { PiiDetector } from './detector.ts';
import type { PiiFinding } from './finding.ts';

/** From loosest to strictest. */
export const PII_WRITE_ACTIONS = ['allow', 'flag', 'redact', 'require_consent', 'block'] as const;
export type PiiWriteAction = (typeof PII_WRITE_ACTIONS)[number];

export interface PiiWritePolicy {
  readonly action: PiiWriteAction;
  /** Which categories count; `*` is all of them. */
  readonly categories: '*' | readonly PiiCategory[];
  /** Sensitive categories need a grant for the purpose `sensitive`, whatever `categories` says. */
  readonly sensitiveSeparate: boolean;
}

export interface PiiWriter {
  readonly userId?: string;
  /** The purpose of this write. */
  readonly purpose: string;
  /** True when the user has a current grant for the purpose, or for `*`. Not asked without a user. */
  readonly granted: (purpose: string) => boolean;
}

export interface FieldFinding extends PiiFinding {
  /** The field and the way into it: `data.contact.phone`, `criteria.0`; a key of a map ends in `#key`. */
  readonly path: string;
}

export interface PiiOutcome {
  /** What counts under the policy, field by field in the order of the fields. */
  readonly findings: readonly FieldFinding[];
  /** Categories of `findings`, sorted. */
  readonly categories: readonly PiiCategory[];
  /** The fields to write: the ones that were given unless something was redacted. */
  readonly fields: ValueMap;
  /** Tags to add: `pii:<category>` under `flag`, else none. The caller sees to their number. */
  readonly tags: readonly string[];
  /** POL-E002 or POL-E005; then nothing is to be written. */
  readonly refusal: EngineError | undefined;
}

/** Names that say where a grain belongs, or hold hashes, times and words of the format. */
const STRUCTURAL: ReadonlySet<string> = new Set(
  (
    'namespace user_id session_id tags structural_tags created_at valid_from valid_to temporal_type source_type related_to ' +
    'derived_from superseded_by author_did origin_did origin_namespace verification_status processing_basis ' +
    'invalidation_policy content_refs embedding_refs provenance_chain type kind role model_id stop_reason run_id ' +
    'parent_message_id tool_name tool_call_id call_batch_id parent_task_id output_schema input_schema executor_uri ' +
    'executor_kind spec_hash status correlation_id observer_id observer_type observer_model observation_mode ' +
    'observation_scope frame_id sync_group goal_state priority parent_goals satisfaction_evidence dissent_grains basis ' +
    'jurisdiction prior_consent subject_did grantee_did witness_dids scope inference_method bindings retries'
  ).split(' '),
);

/**
 * Applies `policy` to the personal data in `fields`, the fields of a grain under their full names. Strings are looked at
 * wherever they are nested, keys of maps and a caller's own names of fields too; a field's name is read with its text ("phone"), and a belief's relation with
 * its object. `fields` is not changed.
 *
 * Consents hold no free text and pass as they are.
 */
export function applyPiiPolicy(
  detector: PiiDetector,
  grain: { readonly type: GrainType; readonly fields: ValueMap },
  policy: PiiWritePolicy,
  writer: PiiWriter,
): PiiOutcome {
  const { fields, type } = grain;
  if (type === 'consent' || (policy.action === 'allow' && !policy.sensitiveSeparate)) return passed(fields);
  const counts = (category: PiiCategory): boolean => policy.categories === '*' || policy.categories.includes(category);
  const walk: Walk = { detector, redacts: policy.action === 'redact' ? counts : undefined, found: [] };
  const walked = walkFields(walk, type, fields);
  const findings = walk.found.filter(({ category }) => counts(category));
  const categories = sorted(findings);
  const tags = policy.action === 'flag' ? categories.map((category) => `pii:${category}`) : [];
  // What is redacted is not stored, so it needs no consent.
  const stored = policy.action === 'redact' ? walk.found.filter(({ category }) => !counts(category)) : walk.found;
  const refusal = refusalOf(policy, categories, writer) ?? sensitiveRefusal(policy, stored, writer);
  return { findings, categories, fields: walked, tags, refusal };
}

/** The text with `[CATEGORY]` in the place of each finding, in capitals; findings of `detect`, in their order. */
export function redacted(text: string, findings: readonly PiiFinding[]): string {
  const bytes = Buffer.from(text);
  let kept = '';
  let at = 0;
  for (const { category, start, end } of findings) {
    if (start < at) continue; // A second category of one run of Base64.
    kept += `${bytes.toString('utf8', at, start)}[${category.toUpperCase()}]`;
    at = end;
  }
  return kept + bytes.toString('utf8', at);
}

function passed(fields: ValueMap): PiiOutcome {
  return { findings: [], categories: [], fields, tags: [], refusal: undefined };
}

function refusalOf(
  { action }: PiiWritePolicy,
  categories: readonly PiiCategory[],
  { userId, purpose, granted }: PiiWriter,
): EngineError | undefined {
  if (categories.length === 0) return undefined;
  switch (action) {
    case 'allow':
    case 'flag':
    case 'redact':
      return undefined;
    case 'block':
      return refusal('POL-E005', categories, 'is blocked by the policy');
    case 'require_consent':
      if (userId === undefined) return refusal('POL-E005', categories, 'needs consent, and no user_id says whose');
      return granted(purpose) ? undefined : refusal('POL-E002', categories, `needs consent to "${purpose}"`);
    default:
      return unreachable(action);
  }
}

function sensitiveRefusal(
  { sensitiveSeparate }: PiiWritePolicy,
  stored: readonly FieldFinding[],
  { userId, granted }: PiiWriter,
): EngineError | undefined {
  if (!sensitiveSeparate) return undefined;
  const sensitive = sorted(stored).filter((category) => SENSITIVE_CATEGORIES.includes(category));
  if (sensitive.length === 0) return undefined;
  if (userId === undefined) return refusal('POL-E005', sensitive, 'needs consent, and no user_id says whose');
  return granted('sensitive') ? undefined : refusal('POL-E002', sensitive, 'needs consent to "sensitive"');
}

/** Names categories and never what was found. */
function refusal(code: 'POL-E002' | 'POL-E005', categories: readonly PiiCategory[], issue: string): EngineError {
  return new EngineError(code, `personal data (${categories.join(', ')}) ${issue}`, {
    details: categories.map((category) => ({ field: category, issue })),
  });
}

function sorted(findings: readonly FieldFinding[]): PiiCategory[] {
  return [...new Set(findings.map(({ category }) => category))].sort();
}

interface Walk {
  readonly detector: PiiDetector;
  /** Set: what it says yes to is replaced. */
  readonly redacts: ((category: PiiCategory) => boolean) | undefined;
  readonly found: FieldFinding[];
}

/** The contract's own names are so; another name is a caller's, and read as a key is. */
const PLAIN_NAME = /^[A-Za-z_]+$/;

function walkFields(walk: Walk, type: GrainType, fields: ValueMap): ValueMap {
  let changed: ValueMap | undefined;
  const numbers = new Map<string, number>();
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined || STRUCTURAL.has(name)) continue;
    const newName = PLAIN_NAME.test(name)
      ? name
      : freeKey(walkText(walk, name, `${name}#key`, undefined), name, { map: fields, walked: changed ?? {}, numbers });
    const walked = walkValue(walk, value, name, labelOf(type, name, fields));
    if (walked === value && newName === name) continue;
    changed ??= { ...fields };
    if (newName !== name) delete changed[name];
    setOwn(changed, newName, walked);
  }
  return changed ?? fields;
}

/** Fields and keys whose name says nothing of what is in them. */
const TEXTS: ReadonlySet<string> = new Set(
  (
    'subject object relation content description criteria conclusion premises thinking_content agreed_content ' +
    'embedding_text text body message note notes summary title value context data extra_fields'
  ).split(' '),
);

/** What is read before a field's text: nothing where the name says nothing of it. */
function labelOf(type: GrainType, name: string, fields: ValueMap): string | undefined {
  const { relation } = fields;
  if (type === 'belief' && name === 'object' && typeof relation === 'string') return relation;
  return TEXTS.has(name) ? undefined : name;
}

function walkValue(walk: Walk, value: Value, path: string, label: string | undefined): Value {
  if (typeof value === 'string') return walkText(walk, value, path, label);
  if (Array.isArray(value)) return walkArray(walk, value, path, label);
  if (typeof value !== 'object' || value === null || value instanceof Float || value instanceof Uint8Array)
    return value;
  return walkMap(walk, value, path);
}

function walkText(walk: Walk, text: string, path: string, label: string | undefined): string {
  const findings = walk.detector.detect(text, label);
  if (findings.length === 0) return text;
  for (const finding of findings) walk.found.push({ ...finding, path });
  const { redacts } = walk;
  if (redacts === undefined) return text;
  const replaced = findings.filter(({ category }) => redacts(category));
  return replaced.length === 0 ? text : redacted(text, replaced);
}

function walkArray(walk: Walk, items: Value[], path: string, label: string | undefined): Value[] {
  const walked = items.map((item, index) => walkValue(walk, item, `${path}.${index}`, label));
  return walked.some((item, index) => item !== items[index]) ? walked : items;
}

function walkMap(walk: Walk, map: ValueMap, path: string): ValueMap {
  const walked: ValueMap = {};
  const numbers = new Map<string, number>();
  let changed = false;
  for (const key of Object.keys(map)) {
    const value = map[key];
    if (value === undefined) continue;
    const newKey = freeKey(walkText(walk, key, `${path}.${key}#key`, undefined), key, { map, walked, numbers });
    const newValue = walkValue(walk, value, `${path}.${key}`, TEXTS.has(key) ? undefined : key);
    changed ||= newKey !== key || newValue !== value;
    setOwn(walked, newKey, newValue);
  }
  return changed ? walked : map;
}

interface Keys {
  readonly map: ValueMap;
  readonly walked: ValueMap;
  /** The last number that was given to a key. */
  readonly numbers: Map<string, number>;
}

/** Two keys that were redacted to the same, or to one that is there, are told apart by a number. */
function freeKey(key: string, original: string, { map, walked, numbers }: Keys): string {
  if (key === original) return key;
  let number = numbers.get(key) ?? 1;
  let free = number === 1 ? key : `${key} ${number}`;
  while (Object.hasOwn(walked, free) || Object.hasOwn(map, free)) {
    number += 1;
    free = `${key} ${number}`;
  }
  numbers.set(key, number);
  return free;
}
