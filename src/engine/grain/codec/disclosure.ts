// Selective disclosure: a view of a grain that replaces some fields by commitments to their values. The view is a separate
// grain; the original stays authoritative. The format has no salt, so anyone can test guesses against a commitment: a view
// is not anonymised.
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

/** The commitment to a field's value: `sha256:` and the hex digest of the value's canonical bytes, as in a blob. */
export function commitmentTo(name: string, value: Value, type?: GrainType): string {
  startOutput();
  startValues({ keepMinusZero: false, depthMax: GRAIN_DEPTH_MAX });
  writeValue(fieldByName(name, type)?.kind ?? ANY, value, 2);
  return `sha256:${hash('sha256', takeOutput(), 'hex')}`;
}

/**
 * The view of a blob without the named fields; the view of a signed blob is unsigned. Throws ERR_SCHEMA for a field that
 * is absent or may not be elided, and for a blob that is itself a view.
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

/** True when `value` matches the view's commitment to the field `name`. */
export function discloses(view: Grain, name: string, value: Value): boolean {
  const elided = view.fields['_elided'];
  if (!isMap(elided) || !Object.hasOwn(elided, name)) return false;
  const commitment = elided[name];
  if (typeof commitment !== 'string' || !COMMITMENT.test(commitment)) return false;
  return commitmentTo(name, value, view.type) === commitment;
}

/**
 * True when `view` is a faithful view of the blob `original`: it names the original, its fields equal the original's, and
 * it has a commitment to every field that it lacks.
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
    if (error instanceof GrainError) return false; // a commitment to a field that the original lacks
    throw error;
  }
}
