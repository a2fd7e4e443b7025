// JSON Schema builders with TypeBox's names and static types. TypeBox's own builders load its engine for computed types,
// some 370 modules that no schema here needs, into every thread that has operations. `validate.ts` compiles these schemas
// with TypeBox's schema compiler, which reads plain JSON Schema.
import type TypeBox from 'typebox';
import { defined } from '../../engine/base/defined.ts';

export type { Static, TSchema } from 'typebox';

type Options = Readonly<Record<PropertyKey, unknown>>;
type Schema = Readonly<Record<string, unknown>>;

/** Marks an optional member. Not enumerable, because it is no JSON Schema keyword. */
const OPTIONAL = '~optional';

/** Each builder returns the same schema as TypeBox's builder of that name; type.test.ts compares them. */
type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
> & {
  /** As TypeBox's own, but the member's static type admits undefined, as in all types of this project. */
  Optional<S extends TypeBox.TSchema>(schema: S): TypeBox.TOptional<TypeBox.TUnsafe<TypeBox.Static<S> | undefined>>;
};

const builders = {
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly (string | number)[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: (properties: Readonly<Record<string, Schema>>, options?: Options) => {
    const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, OPTIONAL));
    return {
      type: 'object',
      ...defined({ required: required.length === 0 ? undefined : required }),
      properties,
      ...options,
    };
  },
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** Maps strings to `value`; no other kind of key is used here. */
  Record: (_key: Schema, value: Schema, options?: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: Schema) => ({ ...schema }),
};

/** A shared schema with a description for this member; `fallback` is the default of an absent member. */
export function described<S extends object>(schema: S, description: string, fallback?: unknown): S {
  const own = defined({ description, default: fallback });
  const copy = { ...schema, ...own };
  if (Object.hasOwn(schema, OPTIONAL)) Object.defineProperty(copy, OPTIONAL, { value: true });
  return copy;
}

// TypeBox's type-level members (`~kind` and others) exist for the compiler only.
export const Type = builders as unknown as Builders;
