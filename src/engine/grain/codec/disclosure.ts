// Selective disclosure: a view of a grain with some fields taken out, each replaced by a commitment to its value. The
// view is a grain of its own; the original stays the one that counts. A commitment to a guessable value is found by
// guessing, since the format has no salt: this is no anonymization.
import { hash } from 'node:crypto';
import { GRAIN_DEPTH_MAX } from '../../base/limits.ts';
import { addressOf } from '../address.ts';
import { GrainError, refuse } from '../error.ts';
import type { Grain, GrainType } from '../grain.ts';
import { DISCLOSABLE_FIELDS } from '../registry.ts';
import { isMap } from '../rules/validate.ts';
import { setOwn, type Value, type ValueMap } from '../value.ts';
import { decodeGrain, type EncodedWithWarnings, encodeGrain } from './blob.ts';
import { startValues, writeValue } from './canonical.ts';
import { fieldByName } from './field-map.ts';
import { FLAG, peek, sensitivityOf } from './header.ts';
import { ANY } from './kind.ts';
import { startOutput, takeOutput } from './msgpack.ts';

const COMMITMENT = /^sha256:[0-9a-f]{64}$/;

/** `sha256:` and hex over the canonical bytes of a field's value alone, in the form in which a blob holds it. */
export function commitmentTo(name: string, value: Value, type?: GrainType): string {
  startOutput();
  startValues({ keepMinusZero: false, depthMax: GRAIN_DEPTH_MAX });
  writeValue(fieldByName(name, type)?.kind ?? ANY, value, 2);
  return `sha256:${hash('sha256', takeOutput(), 'hex')}`;
}

/**
 * The view of a blob without the named fields; the view of a signed blob is an unsigned one. Throws ERR_SCHEMA for a
 * field that may not be elided or is not there, and for a blob that is a view itself.
 */
export function elide(blob: Uint8Array, names: readonly string[]): EncodedWithWarnings {
  const grain = decodeGrain(blob, { enveloped: (peek(blob).flags & FLAG.signed) !== 0 });
  const { fields } = grain;
  if (fields['_disclosure_of'] !== undefined || fields['_elided'] !== undefined)
    refuse('ERR_SCHEMA', 'a view of a view');
  const hidden = new Set(names);
  const elided: ValueMap = {};
  for (const name of hidden) {
    const value = fields[name];
    if (!DISCLOSABLE_FIELDS.has(name)) refuse('ERR_SCHEMA', 'a field that may not be elided');
    if (value === undefined || value === null) refuse('ERR_SCHEMA', `${name}: is not there`);
    elided[name] = commitmentTo(name, value, grain.type);
  }
  const visible: ValueMap = { _elided: elided, _disclosure_of: addressOf(blob) };
  for (const name of Object.keys(fields)) if (!hidden.has(name)) setOwn(visible, name, fields[name]!);
  return encodeGrain(grain.typeString, visible, { sensitivity: sensitivityOf(grain.header) });
}

/** True when `value` is what the view's commitment to `name` was made of. */
export function discloses(view: Grain, name: string, value: Value): boolean {
  const elided = view.fields['_elided'];
  if (!isMap(elided) || !Object.hasOwn(elided, name)) return false;
  const commitment = elided[name];
  if (typeof commitment !== 'string' || !COMMITMENT.test(commitment)) return false;
  return commitmentTo(name, value, view.type) === commitment;
}

/**
 * True when `view` says nothing but what the blob of its original says: it names it, every field it shows is the
 * original's, and every field it lacks is committed to.
 */
export function isViewOf(view: Grain, original: Uint8Array): boolean {
  const elided = view.fields['_elided'];
  if (!isMap(elided) || view.fields['_disclosure_of'] !== addressOf(original)) return false;
  const names = Object.keys(elided);
  if (!names.every((name) => DISCLOSABLE_FIELDS.has(name) && !Object.hasOwn(view.fields, name))) return false;
  try {
    const again = elide(original, names);
    const given = encodeGrain(view.typeString, view.fields, { sensitivity: sensitivityOf(view.header) });
    return again.address === given.address;
  } catch (error) {
    if (error instanceof GrainError) return false; // a commitment to what the original does not have
    throw error;
  }
}
