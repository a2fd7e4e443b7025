// Preloaded into the server: ends the process around a write of a harness's definition. `armed` in the folder PROVISION_CUTS
// holds the number of the place: 0 before the first write of a provision, 1 after it, 2 before the second one, and so on.
// It is removed, so that each is cut once.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';

const armed = join(process.env['PROVISION_CUTS'] ?? '', 'armed');
const call = Router.prototype.call;
let places = 0;

function step(): void {
  if (!existsSync(armed) || Number(readFileSync(armed, 'utf8')) !== places++) return;
  rmSync(armed);
  process.kill(process.pid, 'SIGKILL');
}

Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const writes = isWrite(method, input);
  if (writes) step();
  const output = await call.call(this, method, context, input);
  if (writes) step();
  return output;
} as typeof call;

function isWrite(method: MemoryMethod, input: unknown): boolean {
  if (method === 'add') return (input as Input<'add'>).check !== true;
  return method === 'supersede' || method === 'note';
}
