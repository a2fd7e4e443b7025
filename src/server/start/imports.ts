// Opens the import jobs, and continues those of an earlier server.
import { join } from 'node:path';
import { onDemand } from '../../engine/base/on-demand.ts';
import type { Services } from '../context.ts';
import type { ControlStore } from '../control/store.ts';
import { ImportJobs } from '../imports/import-jobs.ts';
import type * as RunJob from '../imports/run-job.ts';
import type { Erasures } from '../jobs/erasures.ts';
import type { Shards } from '../shards.ts';
import type { Starting } from './starting.ts';

/** Folder inside the data directory. */
const FOLDER = 'imports';

export function openImports(
  { config, clock, log }: Pick<Starting, 'config' | 'clock' | 'log'>,
  parts: { readonly control: ControlStore; readonly shards: Pick<Shards, 'call'> },
): ImportJobs {
  return new ImportJobs({ ...parts, clock, log, directory: join(config.dataDir, FOLDER) });
}

const inJob = onDemand<typeof RunJob>(import.meta.url, '../imports/run-job');

/** A copy that repeats removals leaves the jobs to the next server. */
export async function startImports(
  { deps, lifecycle }: Starting,
  services: Services,
  { erasures, documents }: { readonly erasures: Erasures; readonly documents: Services['documents'] },
): Promise<void> {
  const { imports, events, deliveries, chats } = services;
  const reread = (memory: number): void => {
    events.reread(memory);
    deliveries.reread(memory);
  };
  erasures.attach(imports, { reread }, chats);
  lifecycle.opened('import jobs', () => services.imports.close());
  if (deps.repeats !== true) await services.imports.start((run) => inJob().runJob({ ...run, services, documents }));
}
