// Kinds define which values a position allows and how they are encoded. The position, not the value, decides between
// integer 1 and float 1.0.

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
  /** Unix milliseconds, a safe integer. */
  ms: 8,
  bool: 9,
  bytes: 10,
  /** A map with free keys and values. */
  map: 11,
  list: 12,
  /** A map with free keys and values of one kind. */
  record: 13,
  /** A map with known keys; it may have others too. */
  shape: 14,
  stringOrMap: 15,
} as const;

export interface Kind {
  readonly code: (typeof KIND)[keyof typeof KIND];
  /** Kind of the items, for `list` and `record`. */
  readonly item?: Kind | undefined;
  /** Set for `shape`. */
  readonly shape?: Shape | undefined;
}

export interface ShapeField {
  readonly name: string;
  /** Key in the blob: the short key, or the name where the format defines none. */
  readonly short: string;
  readonly kind: Kind;
}

/** The known keys of a nested map. */
export interface Shape {
  readonly byName: ReadonlyMap<string, ShapeField>;
  readonly byShort: ReadonlyMap<string, ShapeField>;
  readonly required: readonly string[];
  /** Replaces `required` if this key is present (a citation in place of a content reference). */
  readonly alternative?: { readonly key: string; readonly required: readonly string[] } | undefined;
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

/** True for kinds of numbers with a meaning in the format: counts, times, ratios. */
export function isCounted(kind: Kind | undefined): boolean {
  return kind !== undefined && kind.code >= KIND.float && kind.code <= KIND.ms;
}

interface ShapeOptions {
  readonly required?: readonly string[] | undefined;
  readonly alternative?: { readonly key: string; readonly required: readonly string[] } | undefined;
  /** Short keys by name, for entries that have one. */
  readonly short?: Readonly<Record<string, string>> | undefined;
}

/** The kind of a map with known keys. Without `short` the blob contains the names themselves. */
export function shapeOf(kinds: Readonly<Record<string, Kind>>, options: ShapeOptions = {}): Kind {
  const fields = Object.entries(kinds).map(([name, kind]) => ({ name, kind, short: options.short?.[name] ?? name }));
  const shape: Shape = {
    byName: new Map(fields.map((field) => [field.name, field])),
    byShort: new Map(fields.map((field) => [field.short, field])),
    required: options.required ?? [],
    alternative: options.alternative,
  };
  return { code: KIND.shape, shape };
}
