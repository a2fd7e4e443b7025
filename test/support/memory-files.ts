// A folder in memory, on machines that have a memory file system with enough room; elsewhere in the temporary folder.
// For tests that prove nothing about a disk: syncing a file costs nothing in memory, and most of such a test's time
// elsewhere.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The memory file system of Linux. */
const MEMORY_FILES = '/dev/shm';
/** Required free bytes; a container may give it only 64 MB. */
const ROOM_BYTES_MIN = 1 << 30;

const made = new Set<string>();
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder; it is deleted when the process ends. */
export function memoryFolder(): string {
  const folder = mkdtempSync(join(hasRoom() ? MEMORY_FILES : tmpdir(), 'granary-'));
  made.add(folder);
  return folder;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FILES);
    return bavail * bsize >= ROOM_BYTES_MIN;
  } catch {
    // No such folder on this system.
    return false;
  }
}
