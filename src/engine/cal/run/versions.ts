// Runs HISTORY: the versions of a grain or of a pair of subject and relation, and the changes between versions.

import { ask } from '../../asking/asking.ts';
import { stringifyJson } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import { scopeView } from '../../recall/filter/scope.ts';
import type { GrainReference, History, HistoryDiff, HistoryOfPair, Value } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { bounds, charge } from './bounds.ts';
import { calGrain } from './grain-of.ts';
import { shownHash, versionJson } from './payload.ts';
import { resolveReference, valuesOf } from './references.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';
import { spanOf } from './time.ts';

export function* runHistory(history: History, run: Run): Running<JsonObject> {
  const hash = yield* resolveReference(history.grain, run);
  if (hash === undefined) return { type: 'history', versions: [] };
  const { versions } = yield* ask('history', { hash, newest: CAL_LIMITS.historyVersionsMax });
  run.spent.scanned += versions.length;
  const shown = versions.map((version, i): JsonObject => {
    const successor = version.fields['superseded_by'];
    return versionJson(version, typeof successor === 'string' ? successor : versions[i + 1]?.hash);
  });
  return { type: 'history', versions: shown.reverse() };
}

export function* runPairHistory(history: HistoryOfPair, run: Run): Running<JsonObject> {
  const subject = textOf(history.subject, run);
  const relation = textOf(history.relation, run);
  const asOf = history.asOf === undefined ? undefined : spanOf(history.asOf, run.nowMs);
  if (history.asOf !== undefined && asOf === undefined)
    throw new CalError('CAL-E020', 'AS OF takes a time', { suggestion: 'Write an ISO 8601 date or instant.' });
  const place = run.namespace === undefined ? history.in : undefined;
  const scope = place?.scope === true ? scopeView(place.name, false) : undefined;
  if (place?.scope === true && scope === undefined) return { type: 'history', versions: [] };
  const selected = yield* ask('select', {
    filter: {
      grainTypes: ['belief'],
      subject,
      relation,
      includeSuperseded: true,
      anyOf:
        place === undefined || place.scope === true
          ? undefined
          : [{ facet: 'namespace' as const, values: [place.name] }],
      scope,
      createdToMs: asOf?.endMs,
    },
    tests: [],
    ...bounds(run),
    order: { by: 'created', descending: true },
    take: CAL_LIMITS.historyVersionsMax,
  });
  charge(run, selected);
  const versions = selected.grains.map((version) => versionJson(version, version.supersededBy));
  return { type: 'history', versions };
}

function textOf(value: Value, run: Run): string {
  const text =
    value.kind === 'parameter' ? valuesOf(value.name, run)[0] : value.kind === 'string' ? value.value : undefined;
  if (text !== undefined) return text;
  throw new CalError('CAL-E020', 'subject and relation are compared with strings', { at: value.at });
}

export function* runDiff({ from, to }: HistoryDiff, run: Run): Running<JsonObject> {
  const before = yield* named(from, run);
  const after = yield* named(to, run);
  const fields = new Set([...Object.keys(before.fields), ...Object.keys(after.fields)]);
  const changes = [...fields].sort().flatMap((field): JsonObject[] => {
    const old = before.fields[field] ?? null;
    const now = after.fields[field] ?? null;
    if (LINKS.has(field) || isSame(old, now)) return [];
    return [{ field, from: old, to: now }];
  });
  return { type: 'diff', from: shownHash(before.hash), to: shownHash(after.hash), changes };
}

/** Fields about a version's place in the chain, which do not count as differences. */
const LINKS: ReadonlySet<string> = new Set([
  'superseded_by',
  'derived_from',
  'supersession_justification',
  'created_at',
]);

function isSame(a: JsonValue, b: JsonValue): boolean {
  return a === b || stringifyJson(a) === stringifyJson(b);
}

/** The grain that a reference names, whatever its status. Throws E046 if there is none. */
export function* named(reference: GrainReference, run: Run): Running<CalGrain> {
  const hash = yield* resolveReference(reference, run);
  const found = hash === undefined ? undefined : yield* grainAt(hash, run);
  if (found === undefined) throw new CalError('CAL-E046', 'no such grain', { at: reference.at });
  return found;
}

export function* grainAt(hash: string, run: Run): Running<CalGrain | undefined> {
  const selected = yield* ask('select', {
    filter: { includeSuperseded: true, addresses: [hash] },
    tests: [],
    ...bounds(run),
    order: { by: 'hash' },
    take: 1,
  });
  charge(run, selected);
  const [view] = selected.grains;
  return view === undefined ? undefined : calGrain(view, 1);
}
