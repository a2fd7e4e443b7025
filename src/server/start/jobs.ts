// Starts the work beside requests: sweeps, the threads that read long inputs, extractions, timers and checks.
import { IMPORT_JOBS_RUNNING_MAX, KEY_USE_WRITE_MS } from '../../engine/base/limits.ts';
import type { Router } from '../../shards/router.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Keys } from '../control/keys.ts';
import type { ControlStore } from '../control/store.ts';
import { DiskWatch } from '../disk-watch.ts';
import { Documents } from '../documents/documents.ts';
import { watchHealth } from '../health-log.ts';
import { Extractions } from '../jobs/extractions.ts';
import { ImportReader } from '../jobs/read-import.ts';
import { JsonReader } from '../jobs/read-json.ts';
import { TextReader } from '../jobs/read-text.ts';
import { RetentionSweeps } from '../jobs/retention.ts';
import type { Monitor } from '../monitor/monitor.ts';
import { PdfReports } from '../subject-requests/report/pdf-reports.ts';
import type { Placed } from './shards.ts';
import { type Starting, within } from './starting.ts';

export function startSweeps({ log, lifecycle }: Starting, { router, memories }: Placed): RetentionSweeps {
  const sweeps = new RetentionSweeps({ memories, shards: router, log });
  lifecycle.opened('removing what has expired', () => sweeps.close());
  sweeps.start();
  return sweeps;
}

export interface Readers {
  readonly imports: ImportReader;
  readonly bodies: JsonReader;
  readonly texts: TextReader;
  readonly documents: Documents;
  /** Reads the documents of import jobs, which keep their threads for longer. */
  readonly jobs: Documents;
  /** Writes reports as PDF. */
  readonly pdfs: PdfReports;
  readonly extractions: Extractions;
}

/** Their threads start with the first input that needs them. */
export function openReaders({ log, lifecycle }: Starting): Readers {
  const imports = new ImportReader();
  lifecycle.opened('import thread', () => imports.close());
  const bodies = new JsonReader();
  lifecycle.opened('thread of long bodies', () => bodies.close());
  const texts = new TextReader({ onError: (err) => log.error({ err }, 'the extraction thread failed') });
  lifecycle.opened('extraction thread', () => texts.close());
  const options = { onError: (err: unknown) => log.error({ err }, 'a document could not be read') };
  const documents = new Documents(options);
  lifecycle.opened('threads of documents', () => documents.close());
  const jobs = new Documents({ ...options, threads: IMPORT_JOBS_RUNNING_MAX });
  lifecycle.opened('threads of import jobs', () => jobs.close());
  const pdfs = new PdfReports({ onError: (err) => log.error({ err }, 'the thread of reports failed') });
  lifecycle.opened('thread of reports', () => pdfs.close());
  const extractions = new Extractions(log);
  lifecycle.opened('extractions under way', () => extractions.close(lifecycle.drainMs));
  return { imports, bodies, texts, documents, jobs, pdfs, extractions };
}

export function watchDisks({ config, log, lifecycle }: Starting, shards: number): DiskWatch {
  const disks = new DiskWatch({ dataDirectory: config.dataDir, shards, log });
  lifecycle.opened('disk checks', () => within(disks.close(), lifecycle.drainMs));
  disks.start();
  return disks;
}

/** Logs when the control log or a shard begins or ceases to refuse work. */
export function startHealthChecks({ log, lifecycle }: Starting, control: ControlStore, router: Router): void {
  const check = async () => {
    const { refusing } = control;
    const reasons = refusing === undefined ? [] : [`writes are refused: ${refusing}`];
    return [...(await router.health()), { shard: 'control' as const, reasons }];
  };
  lifecycle.opened('health checks', watchHealth(check, log));
}

/** Periodic records: last use of keys, number of failed authentications. */
export function startUseRecords(
  { log, lifecycle }: Starting,
  parts: {
    readonly keys: Keys;
    readonly control: ControlStore;
    readonly authenticator: Authenticator;
    readonly monitor: Monitor;
  },
): void {
  const { keys, control, authenticator, monitor } = parts;
  const write = async (): Promise<void> => {
    try {
      await keys.writeUses();
      const count = authenticator.takeFailed();
      if (count === 0) return;
      monitor.saw('failed_keys', undefined, count);
      await control.commit((change) =>
        change.audit({ event: 'auth.failed', actor: 'system', subject: '', details: { count } }),
      );
    } catch (error) {
      log.error({ err: error }, 'cannot record when keys were used');
    }
  };
  const timer = setInterval(() => void write(), KEY_USE_WRITE_MS);
  timer.unref();
  lifecycle.opened('timers', async () => {
    clearInterval(timer);
    await write();
  });
}
