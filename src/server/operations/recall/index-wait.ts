// Reads that wait for indexes: how long, by the body or the header, and what is told when that was not enough.
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

/** Of the time that the request has, so much is left for the read itself. */
const READ_MS = 1_000;

/** Waits as long as the call asks for; the body goes before the header. What was waited for in vain is told. */
export async function waitForIndex(context: Context, bodyMs: number | undefined): Promise<void> {
  const asked = bodyMs ?? context.waitForIndexMs;
  if (asked === undefined || asked === 0) return;
  const { indexWaits, clock } = context.services;
  const warning = await indexWaits.wait(context.memory, Math.min(asked, context.deadlineMs - clock.nowMs() - READ_MS));
  if (warning !== undefined) context.told.push(warning);
}
