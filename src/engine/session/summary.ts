// Sums up the actions of a session from columns of the index. Opens one action of each tool and of each error, to learn
// their names.
import { SESSION_ERRORS_MAX, SESSION_TOOLS_MAX } from '../base/limits.ts';
import type { ErrorTally, SessionSummary, ToolTally } from '../calls/session.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import { errorOf, isCall, isFailure, isSuccess, toolOf } from '../store/action-numbers.ts';
import { shownFields } from '../store/indexed-fields.ts';
import { placesOf, type SessionPlaces } from './places.ts';
import { actionFilters } from './view.ts';

interface Sums {
  calls: number;
  successes: number;
  failures: number;
  durationMs: number;
}

/** The sums of one number of a column, with its last place: the newest in the log. */
interface Counted<T> {
  readonly sums: T;
  last: PartDoc;
}

export function sessionSummary(session: SessionPlaces): SessionSummary {
  const all: Sums = noSums();
  const tools = new Map<number, Counted<Sums>>();
  const errors = new Map<number, Counted<{ count: number }>>();
  const columns = session.parts.map((part) => ({
    outcome: part.numbers('outcome'),
    tool: part.numbers('tool'),
    error: part.numbers('error'),
    duration: part.numbers('durationMs'),
  }));
  for (const place of placesOf(actionFilters(session))) {
    const { outcome: outcomes, tool, error, duration } = columns[place.part]!;
    const outcome = outcomes![place.doc]!; // a part without outcomes has no actions
    const spentMs = duration?.[place.doc] ?? Number.NaN;
    const ofTool = countedIn(tools, tool?.[place.doc] ?? Number.NaN, place, noSums);
    add(all, outcome, spentMs);
    add(ofTool, outcome, spentMs);
    const failed = error?.[place.doc] ?? Number.NaN;
    if (!Number.isNaN(failed)) countedIn(errors, failed, place, () => ({ count: 0 })).count += 1;
  }
  const shown = {
    tools: named(
      session,
      heaviest(tools, ({ calls }) => calls, SESSION_TOOLS_MAX),
      toolOf,
    ),
    errors: named(
      session,
      heaviest(errors, ({ count }) => count, SESSION_ERRORS_MAX),
      errorOf,
    ),
  };
  return mergeSummaries([
    {
      ...all,
      tools: shown.tools.map(({ name, sums }) => ({ tool: name, ...sums })),
      errors: shown.errors.map(({ name, sums }) => ({ error: name, ...sums })),
      cut: tools.size > SESSION_TOOLS_MAX || errors.size > SESSION_ERRORS_MAX,
    },
  ]);
}

/** The sum of several partitions' summaries, or of one with its rows put in order. */
export function mergeSummaries(parts: readonly SessionSummary[]): SessionSummary {
  const all = noSums();
  const tools = new Map<string, Sums>();
  const errors = new Map<string, number>();
  for (const part of parts) {
    addSums(all, part);
    for (const { tool, ...sums } of part.tools) {
      const known = tools.get(tool);
      if (known === undefined) tools.set(tool, { ...sums });
      else addSums(known, sums);
    }
    for (const { error, count } of part.errors) errors.set(error, (errors.get(error) ?? 0) + count);
  }
  const toolRows = [...tools].map(([tool, sums]): ToolTally => ({ tool, ...sums }));
  const errorRows = [...errors].map(([error, count]): ErrorTally => ({ error, count }));
  return {
    ...all,
    tools: toolRows.sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1)).slice(0, SESSION_TOOLS_MAX),
    errors: errorRows.sort((a, b) => b.count - a.count || (a.error < b.error ? -1 : 1)).slice(0, SESSION_ERRORS_MAX),
    cut: parts.some(({ cut }) => cut) || tools.size > SESSION_TOOLS_MAX || errors.size > SESSION_ERRORS_MAX,
  };
}

function addSums(to: Sums, more: Readonly<Sums>): void {
  to.calls += more.calls;
  to.successes += more.successes;
  to.failures += more.failures;
  to.durationMs += more.durationMs;
}

function noSums(): Sums {
  return { calls: 0, successes: 0, failures: 0, durationMs: 0 };
}

function add(sums: Sums, outcome: number, spentMs: number): void {
  if (isCall(outcome)) sums.calls += 1;
  if (isSuccess(outcome)) sums.successes += 1;
  if (isFailure(outcome)) sums.failures += 1;
  if (!Number.isNaN(spentMs)) sums.durationMs += spentMs;
}

function countedIn<T>(counted: Map<number, Counted<T>>, number: number, last: PartDoc, none: () => T): T {
  const known = counted.get(number);
  if (known === undefined) {
    const made = { sums: none(), last };
    counted.set(number, made);
    return made.sums;
  }
  known.last = last;
  return known.sums;
}

function heaviest<T>(
  counted: ReadonlyMap<number, Counted<T>>,
  weight: (sums: T) => number,
  max: number,
): readonly Counted<T>[] {
  const rows = [...counted.values()];
  return rows.length <= max ? rows : rows.sort((a, b) => weight(b.sums) - weight(a.sums)).slice(0, max);
}

/** Opens the last grain of each row. A row whose grain cannot be read gets the name of an unknown tool or error. */
function named<T>(
  { store, memory, parts }: SessionPlaces,
  rows: readonly Counted<T>[],
  nameOf: (shown: (name: string) => unknown) => string,
): readonly { readonly name: string; readonly sums: T }[] {
  return rows.map(({ sums, last }) => {
    const stored = store.readGrain(memory, parts[last.part]!.ordinals[last.doc]!);
    return { name: nameOf(stored === undefined ? () => undefined : shownFields(stored.grain)), sums };
  });
}
