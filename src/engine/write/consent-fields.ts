// The fields that a consent may have. A consent is stored without any consent to store it, so its content could concern
// a person who never agreed to anything. It is therefore limited to fields that a consent needs, and each is short.
import { EngineError } from '../base/errors.ts';
import { CONSENT_LIST_MAX, CONSENT_REASON_CHARS_MAX, CONSENT_TEXT_CHARS_MAX } from '../base/limits.ts';
import { EXTRA_FIELDS } from '../grain/api/draft.ts';
import { contractNames } from '../grain/api/names.ts';
import { fieldByName } from '../grain/codec/field-map.ts';
import { KIND, type Kind } from '../grain/codec/kind.ts';
import { isMap } from '../grain/rules/validate.ts';
import { Float, type Value, type ValueMap } from '../grain/value.ts';

/** Fields of the contract that are excluded, because they hold free text or point to it. */
const FREE: ReadonlySet<string> = new Set(
  'context embedding_text content_refs embedding_refs provenance_chain'.split(' '),
);
/** Allowed in addition to the contract's fields: the reason, and the format's fields for views and imports. */
const MORE = ['reason', 'structural_tags', 'system_valid_from', 'identity_state', '_elided', '_disclosure_of'];
const ALLOWED: ReadonlySet<string> = new Set([...contractNames('consent').difference(FREE), ...MORE]);
/** Fields with free text of the person. */
const REASONS: ReadonlySet<string> = new Set(['reason', 'supersession_justification']);

/** VAL-E001, with the field's name, for a consent with any other field. `fields` have the format's full names. */
export function checkConsentFields(fields: ValueMap): void {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value === undefined) continue;
    if (name === EXTRA_FIELDS && isMap(value)) throw refused(Object.keys(value)[0] ?? name, NO_FIELD);
    if (!ALLOWED.has(name)) throw refused(name, NO_FIELD);
    const max = REASONS.has(name) ? CONSENT_REASON_CHARS_MAX : CONSENT_TEXT_CHARS_MAX;
    checkShort(value, fieldByName(name, 'consent')?.kind, name === 'structural_tags' ? 'tags' : name, max);
  }
}

const NO_FIELD = 'is not a field of a consent, which holds no further text';

function checkShort(value: Value, kind: Kind | undefined, name: string, max: number): void {
  if (typeof value === 'string') {
    if (value.length > max) throw refused(name, `holds a text of more than ${max} characters`);
  } else if (value instanceof Uint8Array) throw refused(name, 'holds bytes');
  else if (Array.isArray(value)) {
    if (value.length > CONSENT_LIST_MAX) throw refused(name, `holds more than ${CONSENT_LIST_MAX} members`);
    for (const item of value) checkShort(item, kind?.item, name, max);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Float)) checkMap(value, kind, name, max);
}

function checkMap(map: ValueMap, kind: Kind | undefined, name: string, max: number): void {
  for (const key of Object.keys(map)) {
    const value = map[key];
    const known = kind?.code === KIND.shape ? kind.shape?.byName.get(key)?.kind : kind?.item;
    if (known === undefined) throw refused(name, 'holds a key that the format does not know');
    if (value !== undefined) checkShort(value, known, name, max);
  }
}

function refused(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` ${issue}`, { details: [{ field, issue }] });
}
