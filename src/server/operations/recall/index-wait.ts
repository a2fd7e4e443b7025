// Lets a read wait until the indexes have caught up.
import { steadyMs } from '../../../engine/base/clock.ts';
import { INDEX_WAIT_MS_MAX } from '../../../engine/base/limits.ts';
import type { Context } from '../../context.ts';
import { Type } from '../type.ts';

export const WaitForIndexMs = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: INDEX_WAIT_MS_MAX,
    description:
      'Milliseconds to wait until the indexes cover every acknowledged write; the default is x-wait-for-index-ms, else 0.',
  }),
);

/** Part of the request's time, in milliseconds, that is reserved for the read itself. */
const READ_MS = 1_000;

/** Waits as long as the body asks, else the header. Adds a warning if the indexes are still behind. */
export async function waitForIndex(context: Context, bodyMs: number | undefined): Promise<void> {
  const asked = bodyMs ?? context.waitForIndexMs;
  if (asked === undefined || asked === 0) return;
  const { indexWaits, clock } = context.services;
  const warning = await indexWaits.wait(
    context.memory,
    Math.min(asked, context.deadlineMs - steadyMs(clock) - READ_MS),
  );
  if (warning !== undefined) context.warnings.push(warning);
}
