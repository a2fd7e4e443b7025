// Runs ADD, SUPERSEDE and REVERT, which make new grains. They need permission from the server and the session.

import { ask } from '../../asking/asking.ts';
import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import { setJson } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import type { Add, Assignments, Revert, Span, Supersede, Value } from '../ast.ts';
import { CalError } from '../errors.ts';
import { goalState } from '../output/fields.ts';
import { TYPE_FIELDS } from '../vocabulary/fields.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import { shownHash } from './payload.ts';
import { valuesOf } from './references.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { spanOf } from './time.ts';
import { named } from './versions.ts';

export function* runAdd({ grainType, set, reason }: Add, run: Run): Running<JsonObject> {
  const fields = fieldsOf(grainType.word, set, run);
  try {
    const { hash } = yield* ask('add', { grainType: grainType.word, fields, reason });
    return { type: 'added', hash: shownHash(hash), grain_type: grainType.word };
  } catch (error) {
    throw refusedValue(error, set) ?? error;
  }
}

export function* runSupersede({ grain, set, reason }: Supersede, run: Run): Running<JsonObject> {
  const old = yield* named(grain, run);
  checkBelief(old.grainType, grain);
  if (old.supersededBy !== undefined) throw alreadySuperseded(grain);
  const version = { oldHash: old.hash, fields: fieldsOf('belief', set, run), reason };
  const newHash = yield* supersede(grain, version, set);
  return { type: 'superseded', old_hash: shownHash(old.hash), new_hash: shownHash(newHash) };
}

/** Restores the version before the named one: writes its fields as a new version after the newest of the chain. */
export function* runRevert({ grain, reason }: Revert, run: Run): Running<JsonObject> {
  const target = yield* named(grain, run);
  checkBelief(target.grainType, grain);
  const { versions } = yield* ask('history', { hash: target.hash });
  const at = versions.findIndex(({ hash }) => hash === target.hash);
  const previous = versions[at - 1];
  const head = versions.at(-1);
  if (at < 1 || previous === undefined || head === undefined)
    throw new CalError('CAL-E041', 'this is the first version', { at: grain.at });
  const fields: JsonObject = {};
  // Remove fields that the newest version has and the restored one does not.
  for (const name of Object.keys(head.fields)) if (!KEPT.has(name)) setJson(fields, name, null);
  for (const [name, value] of Object.entries(previous.fields)) if (!KEPT.has(name)) setJson(fields, name, value);
  const newHash = yield* supersede(grain, { oldHash: head.hash, fields, reason });
  return {
    type: 'reverted',
    reverted_hash: shownHash(target.hash),
    new_hash: shownHash(newHash),
    restored_from: shownHash(previous.hash),
  };
}

/** Fields that belong to a version's place in the chain. */
const KEPT: ReadonlySet<string> = new Set([
  'created_at',
  'superseded_by',
  'derived_from',
  'supersession_justification',
  'system_valid_from',
  'system_valid_to',
  'namespace',
  'user_id',
]);

/** The position of a statement's reference to its grain. */
interface Naming {
  readonly at?: Span | undefined;
}

/** The new version's hash. */
function* supersede(
  { at }: Naming,
  version: { readonly oldHash: string; readonly fields: JsonObject; readonly reason: string },
  set: Assignments = [],
): Running<string> {
  try {
    const { newHash } = yield* ask('supersede', version);
    return newHash;
  } catch (error) {
    if (error instanceof EngineError && error.code === 'MEM-E002') throw alreadySuperseded({ at });
    if (error instanceof EngineError && error.code === 'MEM-E001')
      throw new CalError('CAL-E046', 'no such grain', { at });
    throw refusedValue(error, set) ?? error;
  }
}

/** E020 for an invalid field value, which only the write detects; undefined for any other failure. */
function refusedValue(error: unknown, set: Assignments): CalError | undefined {
  if (!(error instanceof EngineError) || (error.code !== 'VAL-E001' && error.code !== 'VAL-E003')) return undefined;
  // `tags[0]` belongs to `tags`. A goal's description was set as its object.
  const [name] = error.details[0]?.field.split(/[.[]/, 1) ?? [];
  const named = set.find(({ field }) => field.word === (name === 'description' ? 'object' : name));
  const { word } = named?.field ?? {};
  return new CalError('CAL-E020', error.message.slice(error.code.length + 2), {
    at: named?.value.at ?? named?.field.at,
    ...defined({
      suggestion: word === undefined ? undefined : `Set another ${word}, or leave it out where the statement allows.`,
    }),
  });
}

function alreadySuperseded({ at }: Naming): CalError {
  return new CalError('CAL-E040', 'the grain has been superseded already', { at });
}

function checkBelief(grainType: string, { at }: Naming): void {
  if (grainType === 'belief') return;
  throw new CalError('CAL-E042', `this grain is of type ${grainType}; only beliefs can be superseded`, { at });
}

function fieldsOf(grainType: string, set: Assignments, run: Run): JsonObject {
  const fields: JsonObject = {};
  for (const { field, value } of set) {
    const plain = plainValue(value, run);
    const name = field.word;
    if (isTime(grainType, name) && (typeof plain === 'string' || typeof plain === 'number')) {
      const span = spanOf(plain, run.nowMs);
      if (span === undefined) throw new CalError('CAL-E020', `${name} takes a time`, { at: value.at });
      fields[name] = Math.floor(span.startMs / 1000);
    } else if (name === 'goal_state' && typeof plain === 'string') fields[name] = goalState(plain);
    else if (name === 'depends_on' && !Array.isArray(plain)) fields[name] = [plain];
    else fields[name] = plain;
    // A goal stores its object as `description`.
    if (grainType === 'goal' && name === 'object') fields['description'] = plain;
  }
  return fields;
}

function isTime(grainType: string, name: string): boolean {
  const type = typeOfSingular(grainType);
  return type !== undefined && TYPE_FIELDS[type].some((one) => one.name === name && one.type === 'temporal');
}

function plainValue(value: Value, run: Run): JsonValue {
  switch (value.kind) {
    case 'string':
    case 'number':
    case 'boolean':
      return value.value;
    case 'hash':
      return value.hex;
    case 'array':
      return value.items.map((item) => plainValue(item, run));
    case 'parameter': {
      const [only, ...others] = valuesOf(value.name, run);
      if (only === undefined || others.length > 0)
        throw new CalError('CAL-E020', `$${value.name} does not hold one value`, { at: value.at });
      return only;
    }
  }
}
