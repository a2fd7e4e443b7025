// A caller that waits for nodes, as the errors STO-E002 and a broken connection ask for: the request may or may not have run, so it
// is sent again under its idempotency key.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from './eventually.ts';

/** The first answer of `attempt` that is not 503. All attempts have one key. A connection that breaks is no answer. */
export async function answered<A extends { readonly status: number }>(
  what: string,
  attempt: (headers: { readonly 'idempotency-key': string }) => Promise<A>,
): Promise<A> {
  const headers = { 'idempotency-key': randomUUID() };
  let answer: A | undefined;
  await eventually(what, async () => {
    answer = await attempt(headers).catch((error: unknown) => {
      if (error instanceof assert.AssertionError) throw error;
      return undefined;
    });
    return answer !== undefined && answer.status !== 503;
  });
  assert.ok(answer);
  return answer;
}
