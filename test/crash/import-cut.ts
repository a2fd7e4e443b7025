// Preloaded into the server: ends the process at the place that the file `armed` in the folder IMPORT_CUTS names, and
// removes the file, so that each is cut once.
//
//   PHASE         when a job has recorded this phase
//   before N      before the N-th batch of a memory's chunks is sent to its shard
//   after N       after it was stored, before the job records it
//   facts         after the first facts of a job were stored, before the job records them
//   told          after the trail has its end, before the status shows it
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ControlStore } from '../../src/server/control/store.ts';
import { CHUNKS } from '../../src/server/operations/codecs.ts';
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';

const armed = join(process.env['IMPORT_CUTS'] ?? '', 'armed');
const batches = new Map<number, number>();

function cutAt(place: string): void {
  if (!existsSync(armed) || readFileSync(armed, 'utf8') !== place) return;
  rmSync(armed);
  process.kill(process.pid, 'SIGKILL');
}

/** True for the entry of a job's end. */
function isEnd(method: MemoryMethod, input: unknown): boolean {
  return method === 'note' && (input as Input<'note'>).event === 'import.completed';
}

function storesFacts(method: MemoryMethod, input: unknown): boolean {
  return method === 'addBatch' && (input as Input<'addBatch'>).items[0]?.event === 'memory.extracted';
}

const callRaw = Router.prototype.callRaw;
Router.prototype.callRaw = async function cutRaw(this: Router, codec, context, bytes) {
  const number = codec === CHUNKS ? (batches.get(context.memory) ?? 0) + 1 : 0;
  if (number > 0) batches.set(context.memory, number);
  cutAt(`before ${number}`);
  const output = await callRaw.call(this, codec, context, bytes);
  cutAt(`after ${number}`);
  return output;
};

const call = Router.prototype.call;
Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const output = await call.call(this, method, context, input);
  if (isEnd(method, input)) cutAt('told');
  if (storesFacts(method, input)) cutAt('facts');
  return output;
} as typeof call;

const commit = ControlStore.prototype.commit;
ControlStore.prototype.commit = async function cutCommit(this: ControlStore, plan) {
  const result = await commit.call(this, plan);
  for (const { phase, status } of this.values('importJob')) cutAt(status === 'running' ? phase : status);
  return result;
} as typeof commit;
