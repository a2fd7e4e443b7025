// Preloaded into the server: stops a provision around a write of the harness's definition, and ends the process when all
// armed ones have stopped. A provision has the name of its request. Its place is 0 before its first write, 1 after it,
// 2 before the second one, and so on.
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import { PlaceWatch } from './places.ts';

const watch = new PlaceWatch(process.env['PROVISION_CUTS'] ?? '');
const places = new Map<string, number>();
const call = Router.prototype.call;

async function step(request: string): Promise<void> {
  const place = places.get(request) ?? 0;
  places.set(request, place + 1);
  await watch.reach(request, place);
}

Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const writes = isWrite(method, input);
  if (writes) await step(context.requestId);
  const output = await call.call(this, method, context, input);
  if (writes) await step(context.requestId);
  return output;
} as typeof call;

function isWrite(method: MemoryMethod, input: unknown): boolean {
  if (method === 'add') return (input as Input<'add'>).check !== true;
  return method === 'supersede' || method === 'note';
}
