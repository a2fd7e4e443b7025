// Preloaded into the server: ends the process around a step of a turn. A conversation `cut-N-…` is cut at its N-th place:
// before the first step, after it, before the second one, and so on; once, as a file in TURN_CUTS says.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';

const folder = process.env['TURN_CUTS'] ?? '';
const places = new Map<string, number>();
const call = Router.prototype.call;

function step(conversation: string): void {
  const at = places.get(conversation) ?? 0;
  places.set(conversation, at + 1);
  const file = join(folder, conversation);
  if (Number(/^cut-(\d+)-/.exec(conversation)?.[1] ?? -1) !== at || existsSync(file)) return;
  writeFileSync(file, '');
  process.kill(process.pid, 'SIGKILL');
}

Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const conversation = conversationOf(method, input);
  if (conversation !== undefined) step(conversation);
  const output = await call.call(this, method, context, input);
  if (conversation !== undefined) step(conversation);
  return output;
} as typeof call;

function conversationOf(method: MemoryMethod, input: unknown): string | undefined {
  if (method === 'beginTurn') return (input as Input<'beginTurn'>).turn.conversationId;
  if (method === 'changeTurn' || method === 'resumeTurn') return (input as Input<'changeTurn'>).conversationId;
  return undefined;
}
