// A small JSON Schema checker for tests, stricter than the standard: a member that a schema does not describe is an
// error, and so is an unknown keyword, which would not be checked.

type Schema = Readonly<Record<string, unknown>>;

/** The errors of `value`, as lines; references resolve in `root`. */
export function faultsIn(root: unknown, schema: Schema, value: unknown, where = '$'): string[] {
  const checks = Object.entries(schema).flatMap(([keyword, wanted]) => {
    const check = KEYWORDS[keyword];
    if (check === undefined) return [`${where}: the keyword ${keyword} is not known`];
    return check({ root, schema, value, where }, wanted);
  });
  return checks;
}

interface At {
  readonly root: unknown;
  readonly schema: Schema;
  readonly value: unknown;
  readonly where: string;
}

/** Each checks its keyword's value. */
// biome-ignore lint/suspicious/noExplicitAny: each keyword's value has its own type
type Check = (at: At, wanted: any) => string[];

const NOTHING: readonly string[] = ['description', 'title', 'format', 'example', 'default'];

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const when = (is: boolean, { where, value }: At, fault: string): string[] =>
  is ? [`${where}: ${fault}: ${(JSON.stringify(value) ?? 'undefined').slice(0, 200)}`] : [];

function member(at: At, name: string, schema: unknown): string[] {
  const value = (at.value as Record<string, unknown>)[name];
  return faultsIn(at.root, schema as Schema, value, `${at.where}.${name}`);
}

function undescribed(at: At): string[] {
  const {
    properties = {},
    patternProperties = {},
    additionalProperties = false,
  } = at.schema as {
    properties?: Schema;
    patternProperties?: Schema;
    additionalProperties?: unknown;
  };
  if (!isObject(at.value)) return [];
  return Object.keys(at.value)
    .filter((name) => !Object.hasOwn(properties, name))
    .flatMap((name) => {
      const pattern = Object.keys(patternProperties).find((one) => new RegExp(one, 'u').test(name));
      if (pattern !== undefined) return member(at, name, patternProperties[pattern]);
      if (additionalProperties === true) return [];
      if (isObject(additionalProperties)) return member(at, name, additionalProperties);
      return [`${at.where}: ${name} is not described`];
    });
}

const KEYWORDS: Readonly<Record<string, Check>> = {
  ...Object.fromEntries(NOTHING.map((keyword) => [keyword, () => []])),
  $ref: (at, wanted: string) => {
    const found = wanted
      .slice(2)
      .split('/')
      .reduce((node: unknown, step) => (isObject(node) ? node[step] : undefined), at.root);
    return isObject(found) ? faultsIn(at.root, found, at.value, at.where) : [`${at.where}: ${wanted} leads nowhere`];
  },
  type: (at, wanted: string) => {
    const is = wanted === 'integer' ? Number.isInteger(at.value) : typeOf(at.value) === wanted;
    return [
      ...when(!is, at, `is no ${wanted}`),
      // An object schema without members is open; any other is closed unless it states otherwise.
      ...(wanted === 'object' && at.schema['properties'] !== undefined ? undescribed(at) : []),
    ];
  },
  enum: (at, wanted: unknown[]) => when(!wanted.includes(at.value), at, `is none of ${wanted.join(', ')}`),
  const: (at, wanted: unknown) => when(at.value !== wanted, at, `is not ${wanted}`),
  required: (at, wanted: string[]) =>
    isObject(at.value)
      ? wanted
          .filter((name) => !Object.hasOwn(at.value as object, name))
          .map((name) => `${at.where}: ${name} is missing`)
      : [],
  properties: (at, wanted: Schema) =>
    Object.entries(wanted).flatMap(([name, schema]) =>
      isObject(at.value) && Object.hasOwn(at.value, name) ? member(at, name, schema) : [],
    ),
  additionalProperties: (at) => (at.schema['properties'] === undefined ? undescribed(at) : []),
  patternProperties: (at) => (at.schema['properties'] === undefined ? undescribed(at) : []),
  items: (at, wanted: Schema) =>
    Array.isArray(at.value)
      ? at.value.flatMap((one: unknown, index) => faultsIn(at.root, wanted, one, `${at.where}[${index}]`))
      : [],
  anyOf: (at, wanted: Schema[]) => {
    const all = wanted.map((schema) => faultsIn(at.root, schema, at.value, at.where));
    return all.some((faults) => faults.length === 0) ? [] : [`${at.where}: fits no alternative`, ...all.flat()];
  },
  minimum: (at, wanted: number) => when(typeof at.value === 'number' && at.value < wanted, at, `is below ${wanted}`),
  maximum: (at, wanted: number) => when(typeof at.value === 'number' && at.value > wanted, at, `is above ${wanted}`),
  minLength: (at, wanted: number) =>
    when(typeof at.value === 'string' && at.value.length < wanted, at, `is shorter than ${wanted}`),
  maxLength: (at, wanted: number) =>
    when(typeof at.value === 'string' && at.value.length > wanted, at, `is longer than ${wanted}`),
  pattern: (at, wanted: string) =>
    when(typeof at.value === 'string' && !new RegExp(wanted, 'u').test(at.value), at, `does not match ${wanted}`),
  minItems: (at, wanted: number) => when(Array.isArray(at.value) && at.value.length < wanted, at, `has too few items`),
  maxItems: (at, wanted: number) => when(Array.isArray(at.value) && at.value.length > wanted, at, `has too many items`),
};
