// What a value in a known position may be, and how it is written there: the difference between 1 and 1.0 is decided
// by position, not by value.

export const KIND = {
  any: 0,
  string: 1,
  /** A string that is a content address. */
  address: 2,
  /** Always float64. */
  float: 3,
  /** float64, 0..1. */
  unit: 4,
  /** Always integer, 64 bits. */
  int: 5,
  /** Integer, not negative. */
  count: 6,
  /** 0..255. */
  byte: 7,
  /** Epoch milliseconds; within what a number holds exactly. */
  ms: 8,
  bool: 9,
  bytes: 10,
  /** A map whose keys and values are the writer's own. */
  map: 11,
  list: 12,
  /** A map whose keys are the writer's own and whose values are of one kind. */
  record: 13,
  /** A map with known keys; others may stand beside them. */
  shape: 14,
  stringOrMap: 15,
} as const;

export interface Kind {
  readonly code: (typeof KIND)[keyof typeof KIND];
  /** Of `list` and `record`. */
  readonly item?: Kind;
  /** Of `shape`. */
  readonly shape?: Shape;
}

export interface ShapeField {
  readonly name: string;
  /** Key inside the blob; the name itself where entries are not compacted. */
  readonly short: string;
  readonly kind: Kind;
}

/** The known keys of a nested map. */
export interface Shape {
  readonly byName: ReadonlyMap<string, ShapeField>;
  readonly byShort: ReadonlyMap<string, ShapeField>;
  readonly required: readonly string[];
  /** Required instead of `required` when this key is there (a citation in place of a content reference). */
  readonly alternative?: { readonly key: string; readonly required: readonly string[] };
}

export const ANY: Kind = { code: KIND.any };
export const STRING: Kind = { code: KIND.string };
export const ADDRESS: Kind = { code: KIND.address };
export const FLOAT: Kind = { code: KIND.float };
export const UNIT: Kind = { code: KIND.unit };
export const INT: Kind = { code: KIND.int };
export const COUNT: Kind = { code: KIND.count };
export const BYTE: Kind = { code: KIND.byte };
export const MS: Kind = { code: KIND.ms };
export const BOOL: Kind = { code: KIND.bool };
export const BYTES: Kind = { code: KIND.bytes };
export const MAP: Kind = { code: KIND.map };
export const STRING_OR_MAP: Kind = { code: KIND.stringOrMap };

export function listOf(item: Kind): Kind {
  return { code: KIND.list, item };
}

export function recordOf(item: Kind): Kind {
  return { code: KIND.record, item };
}

/** True for numbers that the format gives a meaning: counts, times, ratios. */
export function isCounted(kind: Kind | undefined): boolean {
  return kind !== undefined && kind.code >= KIND.float && kind.code <= KIND.ms;
}

interface ShapeOptions {
  readonly required?: readonly string[];
  readonly alternative?: { readonly key: string; readonly required: readonly string[] };
  /** Short key by name, for the entries that are compacted. */
  readonly short?: Readonly<Record<string, string>>;
}

/** A map with known keys. Without `short` its keys are written as they are. */
export function shapeOf(kinds: Readonly<Record<string, Kind>>, options: ShapeOptions = {}): Kind {
  const fields = Object.entries(kinds).map(([name, kind]) => ({ name, kind, short: options.short?.[name] ?? name }));
  const shape: Shape = {
    byName: new Map(fields.map((field) => [field.name, field])),
    byShort: new Map(fields.map((field) => [field.short, field])),
    required: options.required ?? [],
    ...(options.alternative && { alternative: options.alternative }),
  };
  return { code: KIND.shape, shape };
}
