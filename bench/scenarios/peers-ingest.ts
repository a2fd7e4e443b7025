// The same rows with vectors into Granary and into other stores, a thousand in each call: rows a second until they are
// answered and until they are indexed, recalls beside the load and after it, bytes and memory. Loading and asking are
// separate processes. Peers follow one another, so a size takes long: the scenario runs only when it is named.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOnDisk, inFolder } from '../lib/folder.ts';
import { DEPTH } from '../lib/judged.ts';
import { granaryKind } from '../lib/peers/granary.ts';
import { HOW_TO_INSTALL, installedPeers } from '../lib/peers/installed.ts';
import { PEERS, type PeerKind, type PeerName } from '../lib/peers/peer.ts';
import { PeerClient } from '../lib/peers/peer-client.ts';
import type { Measured, Options, Scenario, Skipped } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { percentile, rounded } from '../lib/statistics.ts';

const BATCH_ROWS = 1_000;
/** Batches that are made, then added, while questions run. */
const CHUNK_BATCHES = 10;
/** A load that takes longer stops, and its figures are of the rows that it added. */
const LOAD_SECONDS_MAX = 1_200;
const WARM_UP_QUESTIONS = 50;
const LOAD_SEED = 1;
const ASK_SEED = 2;
const BYTES_PER_MB = 2 ** 20;

const INSTALLED = installedPeers();
// Object.keys loses the type of the keys.
const OTHERS = Object.keys(INSTALLED) as PeerName[];

export const scenario: Scenario = {
  name: 'peers-ingest',
  about: 'the same rows into Granary and other stores: rates, recalls meanwhile and after, bytes, memory',
  aims: OTHERS.map((name) => ({ metric: `granary_over_${name}_100000_rows_per_s_ratio`, atLeast: 1 })),
  run,
};

async function run({ size }: Options): Promise<Measured | Skipped> {
  if (OTHERS.length === 0) return { skipped: `no peer is installed (${HOW_TO_INSTALL})` };
  const only = process.env['BENCH_PEERS_ROWS'];
  const sizes = only === undefined ? sized(size, SIZES) : only.split(',').map(Number);
  const questions = sized(size, { full: 300, quick: 100, smoke: 5 });
  const metrics: Record<string, number> = {};
  const failed: string[] = [];
  // Its start encodes the real vectors that those of the rows are drawn near.
  await inFolder(async (folder) => (await granaryKind.start!(folder)).stop());
  for (const rows of sizes) {
    const kinds: [PeerName, PeerKind][] = [
      ...OTHERS.map((name) => [name, INSTALLED[name]!] as [PeerName, PeerKind]),
      ['granary', granaryKind],
    ];
    for (const [name, kind] of kinds) {
      try {
        const figures = await inFolder((folder) => measured(name, kind, { folder, rows, questions }));
        for (const [figure, value] of Object.entries(figures)) metrics[`${name}_${rows}_${figure}`] = value;
        console.error(`${PEERS[name].title}, ${rows} rows: ${JSON.stringify(rounded(figures))}`);
      } catch (error) {
        // Hours may lie behind: the figures of the others count.
        console.error(`${PEERS[name].title}, ${rows} rows: no figures, because it failed:`, error);
        failed.push(`${name} ${rows}`);
      }
    }
    for (const name of OTHERS) {
      const [own, peer] = ['granary', name].map((one) => metrics[`${one}_${rows}_settled_rows_per_s`]);
      if (own !== undefined && peer !== undefined)
        metrics[`granary_over_${name}_${rows}_rows_per_s_ratio`] = own / peer;
    }
  }
  const peers = ['granary', ...OTHERS].join(' ');
  return {
    parameters: {
      sizes: sizes.join(' '),
      batch_rows: BATCH_ROWS,
      questions,
      limit: DEPTH,
      peers,
      failed: failed.join(', '),
    },
    metrics: rounded(metrics),
  };
}

const SIZES = { full: [100_000, 1_000_000], quick: [20_000], smoke: [2_000] };

async function measured(
  name: PeerName,
  kind: PeerKind,
  { folder, rows, questions }: { readonly folder: string; readonly rows: number; readonly questions: number },
): Promise<Record<string, number>> {
  const data = join(folder, name);
  mkdirSync(data);
  const server = await kind.start?.(data);
  const place = server?.address ?? data;
  let loader: PeerClient | undefined;
  let asker: PeerClient | undefined;
  try {
    loader = await PeerClient.open(name, place, LOAD_SEED);
    let added = 0;
    let seconds = 0;
    const add = async (): Promise<void> => {
      seconds += await loader!.add();
    };
    const during: number[] = [];
    while (added < rows && seconds < LOAD_SECONDS_MAX) {
      const batchRows = Math.min(BATCH_ROWS, rows / 2);
      const batches = Math.min(CHUNK_BATCHES, Math.ceil((rows - added) / batchRows / (added === 0 ? 2 : 1)));
      await loader.prepare(batches, batchRows);
      // Before the first rows there is nothing to ask.
      if (added === 0) await add();
      else {
        asker ??= await PeerClient.open(name, place, ASK_SEED);
        during.push(...(await asker.askDuring(DEPTH, add)));
      }
      added += batches * batchRows;
    }
    const indexSeconds = await loader.index();
    asker ??= await PeerClient.open(name, place, ASK_SEED);
    await asker.ask(DEPTH, Math.min(questions, WARM_UP_QUESTIONS));
    const after = await asker.ask(DEPTH, questions);
    const residentBytes = (server?.pids ?? [loader.pid]).reduce((sum, pid) => sum + residentOfTree(pid), 0);
    await asker.stop();
    await loader.stop();
    await server?.stop();
    const stopped: Record<string, number> = added < rows ? { rows: added } : {};
    return {
      ...stopped,
      rows_per_s: added / seconds,
      settled_rows_per_s: added / (seconds + indexSeconds),
      during_p50_ms: percentile(during, 0.5),
      during_p99_ms: percentile(during, 0.99),
      after_p50_ms: percentile(after, 0.5),
      after_p99_ms: percentile(after, 0.99),
      bytes_per_row: bytesOnDisk(data) / added,
      resident_mb: residentBytes / BYTES_PER_MB,
    };
  } catch (error) {
    loader?.kill();
    asker?.kill();
    await server?.stop();
    throw error;
  }
}

/** Memory of a process and its children; pages that they share count once. NaN where the system does not report it. */
function residentOfTree(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim().split(' '))
    .filter((child) => child !== '')
    .map(Number);
  const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1];
  return Number(kibibytes) * 1_024 + children.reduce((sum, child) => sum + residentOfTree(child), 0);
}
