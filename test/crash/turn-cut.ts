// Preloaded into the server: stops a turn around a step, and ends the process when all armed ones have stopped. A turn has
// the name of its conversation. Its place is 0 before its first step, 1 after it, 2 before the second one, and so on.
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import { PlaceWatch } from './places.ts';

const watch = new PlaceWatch(process.env['TURN_CUTS'] ?? '');
const places = new Map<string, number>();
const call = Router.prototype.call;

async function step(conversation: string): Promise<void> {
  const place = places.get(conversation) ?? 0;
  places.set(conversation, place + 1);
  await watch.reach(conversation, place);
}

Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const conversation = conversationOf(method, input);
  if (conversation !== undefined) await step(conversation);
  const output = await call.call(this, method, context, input);
  if (conversation !== undefined) await step(conversation);
  return output;
} as typeof call;

function conversationOf(method: MemoryMethod, input: unknown): string | undefined {
  if (method === 'beginTurn') return (input as Input<'beginTurn'>).turn.conversationId;
  if (method === 'changeTurn' || method === 'resumeTurn') return (input as Input<'changeTurn'>).conversationId;
  return undefined;
}
