// Functions that store a field in a draft; the tables of fields.ts combine them.
import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../../base/errors.ts';
import type { Kind } from '../codec/kind.ts';
import { CONVERSIONS } from './conversion.ts';
import { type Draft, keepAside } from './draft.ts';
import { cleanFree, FIELD_DEPTH } from './free.ts';
import type { JsonValue } from './json-value.ts';
import { takeKind } from './kind.ts';
import { invalidType, outOfRange } from './refusal.ts';
import { ADDRESS, isMap, type Take, text, texts } from './take.ts';

/** Stores a value, never null, in the draft. `name` is the caller's spelling. */
export type Put = (draft: Draft, value: JsonValue, name: string) => void;

/** Stores the result of `take` under the field's name, or under `target`. */
export function into(take: Take, target?: string): Put {
  return (draft, value, name) => {
    draft.fields[target ?? name] = take(value, name);
  };
}

/** `into` for an open list: warns about a text that is not `known`, but stores it. */
export function open(known: ReadonlySet<string>, what: string): Put {
  return (draft, value, name) => {
    const taken = text(value, name);
    if (!known.has(taken)) draft.warnings.push(`${name}: not a known ${what}, kept as it is`);
    draft.fields[name] = taken;
  };
}

/** Ignores a field of the index layer with a warning: only answers contain it. */
export const readOnly: Put = (draft, _value, name) => {
  draft.warnings.push(`${name}: read-only, ignored`);
};

export const reserved: Put = (_draft, _value, name) => {
  throw outOfRange(name, 'is a short key of the grain format, which no field may be named');
};

/** An alias of a field; ignored when the proper name is present too. */
export function alias(name: string, proper: string, put: Put): Put {
  return (draft, value) => {
    const given = draft.input[proper];
    if (given === undefined || given === null) put(draft, value, proper);
    else draft.warnings.push(`${name}: ignored, since ${proper} is given`);
  };
}

/**
 * A field of the format that the contract does not define for this type, so an extra field for callers. Stores it as the
 * format's field if its value fits the kind and reads back unchanged, otherwise in `extra_fields`.
 */
export function foreign(name: string, kind: Kind): Put {
  const conversion = CONVERSIONS.get(name);
  const take = conversion?.take ?? takeKind(kind);
  return (draft, value) => {
    try {
      const taken = take(value, name);
      if (conversion === undefined || isDeepStrictEqual(conversion.give(taken), cleanFree(value, name, FIELD_DEPTH))) {
        draft.fields[name] = taken;
        return;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
    keepAside(draft, value, name);
  };
}

/** A field that the format limits to addresses and the service does not: keeps other text in `extra_fields`. */
export function addressOrAside(take: Take, fits: (value: JsonValue) => boolean): Put {
  return (draft, value, name) => {
    if (fits(value)) draft.fields[name] = take(value, name);
    else {
      takeTexts(value, name);
      keepAside(draft, value, name);
    }
  };
}

function takeTexts(value: JsonValue, name: string): void {
  if (Array.isArray(value)) texts(value, name);
  else text(value, name);
}

export const isAddress = (value: JsonValue): boolean => typeof value === 'string' && ADDRESS.test(value);
export const areAddresses = (value: JsonValue): boolean => Array.isArray(value) && value.every(isAddress);

/** An array of maps that the service does not interpret. Keeps it in `extra_fields` if the format refuses it. */
export function stored(kind: Kind): Put {
  const take = takeKind(kind);
  return (draft, value, name) => {
    if (!Array.isArray(value)) throw invalidType(name, value, 'an array of maps');
    for (const [index, item] of value.entries())
      if (!isMap(item)) throw invalidType(`${name}[${index}]`, item, 'a map');
    try {
      draft.fields[name] = take(value, name);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      draft.warnings.push(`${name}: not in the form of the grain format, kept as an extra field`);
      keepAside(draft, value, name);
    }
  };
}
