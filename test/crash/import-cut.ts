// Preloaded into the server: stops an import at a place, and ends the process when all armed ones have stopped. An import
// has the name of its memory.
//
//   queued        when the job is recorded
//   PHASE         when the job has recorded this phase
//   before N      before the N-th batch of a memory's chunks is sent to its shard
//   after N       after it was stored, before the job records it
//   facts         after the first facts of a job were stored, before the job records them
//   told          after the trail has its end, before the status shows it
import { ControlStore } from '../../src/server/control/store.ts';
import { ImportJobs } from '../../src/server/imports/import-jobs.ts';
import { CHUNKS } from '../../src/server/operations/codecs.ts';
import type { Input, MemoryMethod } from '../../src/shards/protocol.ts';
import { Router } from '../../src/shards/router.ts';
import { PlaceWatch } from './places.ts';

const watch = new PlaceWatch(process.env['IMPORT_CUTS'] ?? '');
const batches = new Map<number, number>();
/** Names of memories by their numbers. */
const names = new Map<number, string>();

async function reach(memory: number, place: string): Promise<void> {
  await watch.reach(names.get(memory) ?? '', place);
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
  const { memory } = context;
  const number = codec === CHUNKS ? (batches.get(memory) ?? 0) + 1 : 0;
  if (number > 0) batches.set(memory, number);
  await reach(memory, `before ${number}`);
  const output = await callRaw.call(this, codec, context, bytes);
  await reach(memory, `after ${number}`);
  return output;
};

const call = Router.prototype.call;
Router.prototype.call = async function cutCall(this: Router, method: MemoryMethod, context, input) {
  const output = await call.call(this, method, context, input);
  if (isEnd(method, input)) await reach(context.memory, 'told');
  if (storesFacts(method, input)) await reach(context.memory, 'facts');
  return output;
} as typeof call;

/** True for the result of the commit of a new job. */
function isQueued(result: unknown): result is { readonly memory: number } {
  return typeof result === 'object' && result !== null && 'phase' in result && 'fileName' in result;
}

const commit = ControlStore.prototype.commit;
ControlStore.prototype.commit = async function cutCommit(this: ControlStore, plan) {
  const result = await commit.call(this, plan);
  for (const { id, number } of this.values('memory')) names.set(number, id);
  if (isQueued(result)) await reach(result.memory, 'queued');
  return result;
} as typeof commit;

const start = ImportJobs.prototype.start;
ImportJobs.prototype.start = function cutStart(this: ImportJobs, runJob) {
  return start.call(this, (run) =>
    runJob({
      ...run,
      record: async (step) => {
        await run.record(step);
        const { memory, phase } = run.now();
        if (step.phase !== undefined) await reach(memory, phase);
      },
    }),
  );
};
