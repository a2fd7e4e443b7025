// The requests that change a memory.
import { hash as digest } from 'node:crypto';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import { canonicalJson } from '../../src/shards/gather/placement.ts';
import type { Input } from '../../src/shards/protocol.ts';

export type WriteMethod = 'add' | 'addBatch' | 'supersede' | 'accumulate' | 'forget' | 'eraseUser' | 'importBlobs';
export type WriteRequest = {
  [M in WriteMethod]: { readonly method: M; readonly context: RouterContext; readonly input: Input<M> };
}[WriteMethod];
export type RequestOf<M extends WriteMethod> = WriteRequest & { readonly method: M };

/** The same context with an idempotency key and the body of the input. */
export function withKey(context: RouterContext, key: string, input: unknown): RouterContext {
  const plain = canonicalJson(input);
  return { ...context, idempotency: { key, bodyHash: digest('sha256', plain, 'hex') } };
}

/** One item of a batch as a separate request, under the key that the batch gives it. */
export function itemRequest({ context, input }: RequestOf<'addBatch'>, index: number): RequestOf<'add'> {
  const { idempotency, ...rest } = context;
  const key = idempotency && { idempotency: { ...idempotency, key: `${idempotency.key}#${index}` } };
  return { method: 'add', context: { ...rest, ...key }, input: { ...input.items[index]!, sync: false } };
}

export function describe({ method, context, input }: WriteRequest): string {
  const { memory, requestId: _, ...rest } = context;
  return `memory ${memory}: ${method} ${shortened(input)} as ${JSON.stringify(rest)}`;
}

function shortened(input: unknown): string {
  return JSON.stringify(input, (_, value) => (value instanceof Uint8Array ? `${value.length} bytes` : value));
}
