// Checks that the disks under a data directory accept writes. A full disk, a read-only remount or an exhausted quota is
// noticed even without traffic: a small file is written periodically, synced and removed.
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isFileError } from '../engine/base/durable-file.ts';
import { DISK_LATE_MS, DISK_PROBE_BYTES, DISK_PROBE_MS, DISK_ROOM_BYTES_MIN } from '../engine/base/limits.ts';
import type { Logger } from './log.ts';

const PROBE_FILE = 'disk.probe';

/** Tests whether a folder accepts writes. Rejects with the file system's error. */
export interface Probe {
  readonly freeBytes: (folder: string) => Promise<number>;
  readonly write: (folder: string) => Promise<void>;
}

const REAL_PROBE: Probe = {
  freeBytes: async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  write: async (folder) => {
    const path = join(folder, PROBE_FILE);
    try {
      const file = await open(path, 'w', 0o600);
      try {
        await file.write(Buffer.alloc(DISK_PROBE_BYTES, 1));
        await file.datasync();
      } finally {
        await file.close();
      }
    } finally {
      await rm(path, { force: true });
    }
  },
};

export interface DiskWatchParts {
  readonly dataDirectory: string;
  readonly shards: number;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly probe?: Probe | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
}

/** The room of the disk under a data directory, in bytes. */
export interface DiskRoom {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export class DiskWatch {
  readonly #parts: DiskWatchParts;
  readonly #probe: Probe;
  readonly #nowMs: () => number;
  /** Why a folder rejects writes, by folder. */
  #refusing = new Map<string, string>();
  #room: DiskRoom | undefined;
  #looking: { readonly sinceMs: number; readonly done: Promise<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DiskWatchParts) {
    this.#parts = parts;
    this.#probe = parts.probe ?? REAL_PROBE;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), DISK_PROBE_MS);
    this.#timer.unref();
    void this.look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking?.done;
  }

  /** As the last probe found it; undefined before the first one, and when the disk does not say. */
  get room(): DiskRoom | undefined {
    return this.#room;
  }

  /** The problems found by the last probe: callers do not wait for a disk. */
  get reasons(): readonly string[] {
    const reasons = [...this.#refusing].map(([folder, reason]) => `${folder} accepts no writes: ${reason}`);
    const lateMs = this.#looking === undefined ? 0 : this.#nowMs() - this.#looking.sinceMs;
    if (lateMs >= DISK_LATE_MS)
      reasons.push(
        `the disk under ${this.#parts.dataDirectory} has not taken a small write for ${Math.floor(lateMs / 1000)} s`,
      );
    return reasons;
  }

  /** Probes every disk once, unless a probe is running. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= {
      sinceMs: this.#nowMs(),
      done: this.#look().finally(() => {
        this.#looking = undefined;
      }),
    };
    return this.#looking.done;
  }

  async #look(): Promise<void> {
    const found = new Map<string, string>();
    for (const folder of await this.#folders()) {
      const reason = await this.#reasonOf(folder);
      if (reason !== undefined) found.set(folder, reason);
    }
    for (const [folder, reason] of found)
      if (this.#refusing.get(folder) !== reason) this.#parts.log.warn({ folder, reason }, 'a disk accepts no writes');
    for (const folder of this.#refusing.keys())
      if (!found.has(folder)) this.#parts.log.info({ folder }, 'the disk accepts writes again');
    this.#refusing = found;
    this.#room = await roomOf(this.#parts.dataDirectory);
  }

  /** One folder per disk: keys and shards may be on disks of their own. */
  async #folders(): Promise<readonly string[]> {
    const { dataDirectory, shards } = this.#parts;
    const names = ['.', 'keys', 'control', ...Array.from({ length: shards }, (_, shard) => `shard-${shard}`)];
    const byDisk = new Map<number, string>();
    for (const path of names.map((name) => join(dataDirectory, name))) {
      const found = await stat(path).catch(() => undefined);
      if (found !== undefined && !byDisk.has(found.dev)) byDisk.set(found.dev, path);
    }
    return [...byDisk.values()];
  }

  async #reasonOf(folder: string): Promise<string | undefined> {
    try {
      const free = await this.#probe.freeBytes(folder);
      if (free < DISK_ROOM_BYTES_MIN) return 'the disk is full';
      await this.#probe.write(folder);
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  }
}

async function roomOf(folder: string): Promise<DiskRoom | undefined> {
  const found = await statfs(folder).catch(() => undefined);
  return found && { freeBytes: found.bavail * found.bsize, sizeBytes: found.blocks * found.bsize };
}

function wordsOf(error: unknown): string {
  const code = isFileError(error) ? error.code : undefined;
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'EDQUOT') return 'the quota is used up';
  if (code === 'EROFS') return 'the file system is read-only';
  return error instanceof Error ? error.message : String(error);
}
