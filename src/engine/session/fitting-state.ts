// The state of a session as its context shows it: without its largest keys, until it fits its share of the budget. A state
// may have tens of thousands of keys, so each is measured once.
import type { GrainView } from '../calls/grain.ts';
import type { ContextFormat, ContextState } from '../calls/session.ts';
import { stringifyJson } from '../grain/api/json.ts';
import { type JsonObject, type JsonValue, objectOf } from '../grain/api/json-value.ts';
import { textOf } from './pieces.ts';

/** Share of the budget that a state may have. */
const STATE_SHARE = 0.3;
const HEADING = '## State';

/** `left`: characters of the whole budget that nothing has taken yet. */
export function fittingState(
  view: GrainView,
  {
    budgetChars,
    left,
    format,
  }: { readonly budgetChars: number; readonly left: number; readonly format: ContextFormat },
): ContextState {
  const { hash, createdAtMs } = view;
  const room = Math.min(Math.floor(budgetChars * STATE_SHARE), left);
  const entries = Object.entries(dataOf(view));
  const sizes = entries.map(([key, value]) => sizeOf(key, value, format));
  const empty = stateOf(view, {});
  // In JSON the first entry has no comma.
  const around = format === 'text' ? HEADING.length : stringifyJson(empty).length - Math.min(entries.length, 1);
  let chars = sizes.reduce((sum, { shown }) => sum + shown, around);
  const gone = new Set<number>();
  if (chars > room)
    for (const at of largestFirst(entries, sizes)) {
      if (chars <= room) break;
      gone.add(at);
      chars -= sizes[at]!.shown;
    }
  const isNothingLeft = entries.length > 0 && gone.size === entries.length;
  if (chars > room || isNothingLeft) return { hash, createdAtMs, shown: null, chars: 0, trimmedKeys: 0 };
  // fromEntries defines an own property for every key, including `__proto__`.
  const kept = gone.size === 0 ? entries : entries.filter((_, at) => !gone.has(at));
  return { hash, createdAtMs, shown: stateOf(view, Object.fromEntries(kept)), chars, trimmedKeys: gone.size };
}

/** The section of a page that shows a state. */
export function stateLines({ fields }: JsonObject): string[] {
  const { data } = fields as { readonly data: JsonObject }; // as `stateOf` made it
  return [HEADING, ...Object.entries(data).map(([key, value]) => lineOf(key, value))];
}

interface Size {
  /** Characters of the value in JSON, and of the key. */
  readonly weight: number;
  /** Characters that the entry adds in the format. */
  readonly shown: number;
}

function sizeOf(key: string, value: JsonValue, format: ContextFormat): Size {
  const ofValue = stringifyJson(value).length;
  const shown = format === 'text' ? lineOf(key, value).length + 1 : JSON.stringify(key).length + ofValue + 2;
  return { weight: ofValue + key.length, shown };
}

function largestFirst(entries: readonly (readonly [string, JsonValue])[], sizes: readonly Size[]): number[] {
  return [...entries.keys()].sort(
    (a, b) => sizes[b]!.weight - sizes[a]!.weight || (entries[a]![0] < entries[b]![0] ? -1 : 1),
  );
}

function stateOf({ hash, createdAt }: GrainView, data: JsonObject): JsonObject {
  return { hash, fields: { data }, created_at: createdAt };
}

function dataOf({ fields }: GrainView): JsonObject {
  const data = fields['data'];
  return objectOf(data);
}

function lineOf(key: string, value: JsonValue): string {
  return `${textOf(key)}: ${textOf(value)}`;
}
