// Compares two values of nested data by path. Each finding stands at the highest path at which it is true: a map that is
// on one side only is one entry, and so is a map that is equal on both.
import { isJsonObject } from '../../../engine/grain/api/json-value.ts';
import type { JsonObject, JsonValue } from '../../../shards/protocol.ts';

export interface DataDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly key: string; readonly old: JsonValue; readonly new: JsonValue }[];
  readonly unchanged: readonly string[];
  /** True if there are more findings than these. */
  readonly cut: boolean;
}

/** Findings of one comparison; beyond, it ends. */
const FINDINGS_MAX = 10_000;

/** Each list is in the order of its paths. */
export function diffData(old: JsonObject, next: JsonObject): DataDiff {
  const comparison = new Comparison();
  const isEqual = comparison.compare('', old, next);
  const { added, removed, changed, unchanged, isCut } = comparison;
  return {
    added: added.sort(),
    removed: removed.sort(),
    changed: changed.sort((a, b) => (a.key < b.key ? -1 : 1)),
    unchanged: (isEqual ? Object.keys(old).map((key) => pathTo('', key)) : unchanged).sort().slice(0, FINDINGS_MAX),
    cut: isCut,
  };
}

class Comparison {
  readonly added: string[] = [];
  readonly removed: string[] = [];
  readonly changed: { readonly key: string; readonly old: JsonValue; readonly new: JsonValue }[] = [];
  readonly unchanged: string[] = [];
  #findings = 0;
  isCut = false;

  /** True if the values are equal, which then is a finding of the caller. */
  compare(path: string, old: JsonValue, next: JsonValue): boolean {
    if (this.isCut) return false;
    if (Array.isArray(old) && Array.isArray(next)) return this.#members(path, old, next);
    if (isJsonObject(old) && isJsonObject(next)) return this.#members(path, old, next);
    if (old === next) return true;
    if (this.#has()) this.changed.push({ key: path, old, new: next });
    return false;
  }

  #members(path: string, old: object, next: object): boolean {
    const equal: string[] = [];
    let isEqual = true;
    // Values were parsed from JSON: every name is an own property.
    const at = (value: object, name: string): JsonValue => Reflect.get(value, name) as JsonValue;
    for (const name of Object.keys(old)) {
      if (!Object.hasOwn(next, name)) {
        isEqual = false;
        if (this.#has()) this.removed.push(pathTo(path, name, Array.isArray(old)));
      } else if (this.compare(pathTo(path, name, Array.isArray(old)), at(old, name), at(next, name))) equal.push(name);
      else isEqual = false;
    }
    for (const name of Object.keys(next)) {
      if (Object.hasOwn(old, name)) continue;
      isEqual = false;
      if (this.#has()) this.added.push(pathTo(path, name, Array.isArray(old)));
    }
    if (isEqual) return true;
    for (const name of equal) if (this.#has()) this.unchanged.push(pathTo(path, name, Array.isArray(old)));
    return false;
  }

  /** True if there is room for another finding. */
  #has(): boolean {
    this.#findings += 1;
    this.isCut = this.#findings > FINDINGS_MAX;
    return !this.isCut;
  }
}

/** Names that a path would misread without quotes. */
const AMBIGUOUS = /[.[\]"\\]|^$/;

/** `a.b`, `a[0]` for an item of a list, `a["b.c"]` for a name that would be ambiguous. */
function pathTo(path: string, name: string, isItem = false): string {
  if (isItem) return `${path}[${name}]`;
  if (AMBIGUOUS.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
