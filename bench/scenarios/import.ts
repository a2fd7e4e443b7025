// Imported .mg files over HTTP: goals below each other, version links of beliefs, and version links of goals with parents, into
// memories of one partition and of four. People differ, so a goal and its parent mostly lie in different partitions.
import { defined } from '../../src/engine/base/defined.ts';
import { encodeGrain } from '../../src/engine/grain/codec/blob.ts';
import { writeContainer } from '../../src/engine/grain/codec/container-writer.ts';
import type { GrainStatus } from '../../src/engine/grain/codec/manifest.ts';
import type { Address } from '../../src/engine/grain/grain.ts';
import { inFolder } from '../lib/folder.ts';
import { type Measured, type Options, type Scenario, serverSize, sized } from '../lib/scenario.ts';
import { startServer, type Target } from '../lib/server.ts';
import { inTurns, median, medianRatio, named, rounded } from '../lib/statistics.ts';

const PARTITIONS = [1, 4] as const;
/** A memory has at most as many partitions as there are shards. */
const SHARDS = 8;
/** Goals that stand directly below one. */
const CHILDREN = 10;
const USERS = 200;
const THEN_MS = 1_700_000_000_000;

/** A file, and the number of what it is measured by. */
interface Upload {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly grains: number;
  readonly links: number;
}

export const scenario: Scenario = {
  name: 'import',
  about: 'imports of goals with parents and of version links, into one partition and four',
  aims: [],
  run,
};

async function run({ size, profile, start = startServer }: Options): Promise<Measured> {
  const count = sized(size, { full: 2_000, quick: 400, smoke: 40 });
  const rounds = sized(size, { full: 3, quick: 3, smoke: 1 });
  const uploads = { goals: goals(count), versions: versions(count), goal_versions: goalVersions(count) };
  return inFolder(async (folder) => {
    const { workers } = serverSize(size);
    const target = await start({ dataDirectory: folder, auth: 'api-key', profile, workers, shards: SHARDS });
    try {
      const metrics: Record<string, number> = {};
      for (const [name, upload] of Object.entries(uploads)) {
        const seconds = await inTurns(rounds, {
          one: () => imported(target, upload, PARTITIONS[0]),
          four: () => imported(target, upload, PARTITIONS[1]),
        });
        Object.assign(
          metrics,
          named(name, {
            '1_s': median(seconds.one),
            '4_s': median(seconds.four),
            '4_over_1_ratio': medianRatio(seconds.four, seconds.one),
          }),
        );
      }
      return { parameters: { count, rounds, users: USERS, children: CHILDREN }, metrics: rounded(metrics) };
    } finally {
      await target.stop();
    }
  });
}

/** Seconds of the import into a new memory. Everything in the file has to be stored and linked. */
async function imported(target: Target, { file, grains }: Upload, partitions: number): Promise<number> {
  const headers = { authorization: `Bearer ${target.key}` };
  const base = `http://127.0.0.1:${target.http}/api/memories`;
  const created = await fetch(base, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'import', partitions }),
  });
  if (!created.ok) throw new Error(`the memory was refused: ${await created.text()}`);
  const { id } = (await created.json()) as { readonly id: string }; // the memory
  const form = new FormData();
  form.append('file', new Blob([file]), 'import.mg');
  const began = performance.now();
  const answer = await fetch(`${base}/${id}/import-file`, { method: 'POST', headers, body: form });
  const text = await answer.text();
  const seconds = (performance.now() - began) / 1_000;
  const { imported: stored, warnings } = JSON.parse(text) as { imported?: number; warnings?: unknown }; // its answer
  if (stored !== grains || warnings !== undefined) throw new Error(`the import answered ${text.slice(0, 500)}`);
  return seconds;
}

function goals(count: number): Upload {
  const hashes: Address[] = [];
  const blobs: Uint8Array[] = [];
  for (let at = 0; at < count; at++) {
    const above = hashes[Math.floor((at - 1) / CHILDREN)];
    const { blob, address } = goal(`goal ${at}`, at, above);
    hashes.push(address);
    blobs.push(blob);
  }
  return uploadOf(blobs, new Map());
}

function versions(count: number): Upload {
  const blobs: Uint8Array[] = [];
  const manifest = new Map<Address, GrainStatus>();
  for (let at = 0; at < count; at++) {
    const old = belief(at, 'coffee');
    const next = belief(at, 'tea');
    blobs.push(old.blob, next.blob);
    manifest.set(old.address, { supersededBy: next.address });
  }
  return uploadOf(blobs, manifest);
}

function goalVersions(count: number): Upload {
  const top = goal('top', 0, undefined);
  const blobs: Uint8Array[] = [top.blob];
  const manifest = new Map<Address, GrainStatus>();
  let above = top.address;
  for (let at = 0; at < count; at++) {
    const old = goal(`goal ${at}`, at, undefined);
    const next = goal(`goal ${at}, moved`, at, above);
    blobs.push(old.blob, next.blob);
    manifest.set(old.address, { supersededBy: next.address });
    if (at % CHILDREN === 0) above = at % (CHILDREN * CHILDREN) === 0 ? top.address : next.address;
  }
  return uploadOf(blobs, manifest);
}

function goal(description: string, at: number, parent: Address | undefined): ReturnType<typeof encodeGrain> {
  const parent_goals = parent === undefined ? undefined : [parent];
  return encodeGrain('goal', defined({ ...common(at), description, goal_state: 'active', parent_goals }));
}

function belief(at: number, object: string): ReturnType<typeof encodeGrain> {
  return encodeGrain('belief', { ...common(at), subject: `person ${at}`, relation: 'drinks', object, confidence: 0.9 });
}

function common(at: number): { readonly created_at: number; readonly user_id: string } {
  return { created_at: THEN_MS + at, user_id: `user ${at % USERS}` };
}

function uploadOf(blobs: readonly Uint8Array[], manifest: ReadonlyMap<Address, GrainStatus>): Upload {
  const file = Uint8Array.from(writeContainer(blobs, { sorted: false, deduplicated: true, manifest }));
  return { file, grains: blobs.length, links: manifest.size };
}
