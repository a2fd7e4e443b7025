// The erasure of a user with ten thousand grains among a million, in one shard: the time until the key is gone and the
// answer sent, how long the shard is blocked by the work that follows, and when the index blocks with the user's grains
// are gone.
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { cpuTable } from '../lib/cpu-table.ts';
import {
  addAll,
  BATCH_GRAINS,
  batchesOf,
  contextOf,
  makeMemories,
  type OpenShard,
  openShard,
  settle,
} from '../lib/engine.ts';
import { inFolder } from '../lib/folder.ts';
import { grainSource } from '../lib/grains.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { rounded } from '../lib/statistics.ts';

const MEMORY = 1;
const USER = 'the-erased-one';
/** One grain in this many belongs to the user. */
const EACH = 100;
const SLICE_MS = 5;

export const scenario: Scenario = {
  name: 'erase',
  about: 'erasing a user with a hundredth of all grains: the answer, names in others’ grains, the purge',
  aims: [
    { metric: 'answer_ms', atMost: 1_000 },
    { metric: 'longest_slice_cpu_ms', atMost: 50 },
  ],
  run,
};

function run({ size }: Options): Promise<Measured> {
  const grains = sized(size, { full: 1_000_000, quick: 100_000, smoke: 2_000 });
  const naming = sized(size, { full: 1_000, quick: 500, smoke: 20 });
  return inFolder(async (folder) => {
    const shard = await openShard(folder);
    try {
      await makeMemories(shard.engine, MEMORY, 1);
      await fill(shard, grains, naming);
      await settle(shard);
      const metrics = await cpuTable.measure('erase a person', 1, () => erase(shard, { own: grains / EACH, naming }));
      return { parameters: { grains, of_user: grains / EACH, naming_user: naming }, metrics: rounded(metrics) };
    } finally {
      await shard.close();
    }
  });
}

/** In batches, so that every segment has grains of the user. */
async function fill(shard: OpenShard, grains: number, naming: number): Promise<void> {
  const source = grainSource(11);
  const nameEach = Math.floor(grains / naming);
  let at = 0;
  const make = (item: AddItem): AddItem => {
    const place = at++;
    if (place % EACH === 0) return { ...item, fields: { ...item.fields, user_id: USER } };
    // Not a multiple of EACH: another user's grain.
    if (place % nameEach === 1) return { ...item, fields: { ...item.fields, subject: USER } };
    return item;
  };
  function* batches() {
    for (let from = 0; from < grains; from += BATCH_GRAINS)
      yield* batchesOf(MEMORY, source.take(Math.min(BATCH_GRAINS, grains - from)).map(make));
  }
  const added = await addAll(shard, batches());
  if (added !== grains) throw new Error(`${grains} grains were sent, ${added} added`);
}

async function erase(
  { engine, maintenance }: OpenShard,
  { own, naming }: { readonly own: number; readonly naming: number },
): Promise<Record<string, number>> {
  // Slices run here one at a time, to be measured.
  maintenance.stop();
  const context = contextOf(MEMORY);
  const start = performance.now();
  const proof = await engine.write('eraseUser', context, { userId: USER });
  const answer = performance.now();
  if (proof.count !== own) throw new Error(`${proof.count} grains were erased, not ${own}`);
  let redacted = 0;
  let longestRound = 0;
  for (let more = true; more; ) {
    const began = performance.now();
    const round = await engine.write('redactUser', context, { userId: USER, keyFingerprint: proof.keyFingerprint });
    longestRound = Math.max(longestRound, performance.now() - began);
    redacted += round.redacted;
    more = round.more;
  }
  const redaction = performance.now();
  if (redacted !== naming) throw new Error(`${redacted} grains were redacted, not ${naming}`);
  let longestSlice = 0;
  // The source of `purge_pending` in the statistics; computing all statistics costs more than a slice.
  while (engine.store.purgePending.has(MEMORY)) {
    const began = process.cpuUsage();
    engine.maintain(SLICE_MS);
    // CPU time: a slice that was interrupted by others would look longer.
    const { user, system } = process.cpuUsage(began);
    longestSlice = Math.max(longestSlice, (user + system) / 1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const again = await engine.write('eraseUser', context, { userId: USER });
  if (again.count !== 0 || again.keyFingerprint !== proof.keyFingerprint) throw new Error('the proof is not repeated');
  return {
    answer_ms: answer - start,
    answer_us_per_grain: ((answer - start) * 1_000) / own,
    redaction_ms: redaction - answer,
    longest_redaction_round_ms: longestRound,
    purge_s: (performance.now() - redaction) / 1_000,
    longest_slice_cpu_ms: longestSlice,
  };
}
