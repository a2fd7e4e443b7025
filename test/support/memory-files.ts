// A folder in memory, on machines that have a file system with room there; elsewhere in the temporary folder. For tests that
// prove nothing of a disk: a sync of a file costs nothing in memory, and most of such a test's time elsewhere.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY_FILES = '/dev/shm';
/** Free there, or it is not used: a container may give it 64 MB. */
const ROOM_BYTES_MIN = 1 << 30;

const made = new Set<string>();
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder; it is deleted when the process ends, if it is still there. */
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
