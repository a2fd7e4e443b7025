// Finds the conversation of an event: its session or, without one, the events linked to it by parent_message_id in both
// directions.

import { ask } from '../../asking/asking.ts';
import type { Order, Selection } from '../../calls/cal.ts';
import type { GrainFilter } from '../../calls/grain.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { bounds, charge } from './bounds.ts';
import { calGrain } from './grain-of.ts';
import type { Running } from './running.ts';
import type { Run } from './session.ts';

const OLDEST_FIRST: Order = { by: 'time', descending: false };

/** The conversation as a filter: by session, or by the addresses of its events. Undefined if `hash` is no event. */
export function* threadOf(
  hash: string,
  run: Run,
): Running<Pick<GrainFilter, 'anyOf'> | Pick<GrainFilter, 'addresses'> | undefined> {
  const [start] = yield* events(
    { filter: { grainTypes: ['event'], includeSuperseded: true, addresses: [hash] }, tests: [] },
    run,
  );
  if (start === undefined) return undefined;
  const session = fieldValue(start, 'session_id');
  if (typeof session === 'string') return { anyOf: [{ facet: 'session', values: [session] }] };
  return { addresses: yield* linkedTo(start, run) };
}

function* events(selection: Selection, run: Run): Running<CalGrain[]> {
  const selected = yield* ask('select', {
    ...selection,
    ...bounds(run),
    order: OLDEST_FIRST,
    take: CAL_LIMITS.grainsScannedMax,
  });
  charge(run, selected);
  return selected.grains.map((view) => calGrain(view, 1));
}

/** Addresses of the events linked with `start`, including `start`. */
function* linkedTo(start: CalGrain, run: Run): Running<string[]> {
  const replies = yield* events(
    { filter: { grainTypes: ['event'] }, tests: [{ field: 'parent_message_id', op: 'present' }] },
    run,
  );
  const neighbours = new Map<string, string[]>();
  const link = (from: string, to: string): void => {
    const known = neighbours.get(from);
    if (known === undefined) neighbours.set(from, [to]);
    else known.push(to);
  };
  for (const reply of [start, ...replies]) {
    const parent = parentOf(reply);
    if (parent === undefined) continue;
    link(reply.hash, parent);
    link(parent, reply.hash);
  }
  const seen = new Set([start.hash]);
  for (const hash of seen) for (const next of neighbours.get(hash) ?? []) seen.add(next);
  return [...seen].filter((hash) => /^[0-9a-f]{64}$/.test(hash));
}

function parentOf(event: CalGrain): string | undefined {
  const parent = fieldValue(event, 'parent_message_id');
  return typeof parent === 'string' ? parent.replace(/^sha256:/i, '') : undefined;
}
