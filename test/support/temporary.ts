// Places for tests to write: a folder that is deleted after the test, and a disk small enough to fill.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A fresh folder, deleted when the test and all its hooks have ended. */
export function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'granary-test-'));
  // Hooks run in the order they were added. A hook added by a hook is the last one, so what a later hook stops no longer
  // writes to the folder.
  t.after(() => t.after(() => rmSync(directory, { recursive: true, force: true })));
  return directory;
}

/**
 * A disk of `bytes`, mounted for the test, or undefined if that is not possible (it needs root on Linux); then the test
 * is marked as skipped.
 */
export function smallDisk(t: TestContext, bytes: number): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'granary-disk-'));
  let mounted = false;
  // One hook: hooks run in the order they were added, and a mounted folder cannot be deleted.
  t.after(() => {
    // A lazy unmount, because the file that the test filled may still be mapped.
    if (mounted) execFileSync('umount', ['-l', directory], { stdio: 'pipe' });
    rmSync(directory, { recursive: true, force: true });
  });
  try {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('needs root on Linux');
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', directory], { stdio: 'pipe' });
    mounted = true;
    return directory;
  } catch (error) {
    t.skip(`no small disk: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

export interface FailingDisk {
  readonly directory: string;
  /** From now on the kernel treats the file system as damaged, and refuses writes. */
  fail(): void;
}

/**
 * An ext4 of `bytes` in a file, mounted for the test, that can be made read-only; or undefined if that is not possible
 * (it needs root and loop devices). Then the test is marked as skipped.
 */
export function failingDisk(t: TestContext, bytes: number): FailingDisk | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'granary-disk-'));
  const image = `${directory}.img`;
  let mounted = false;
  t.after(() => {
    if (mounted) execFileSync('umount', ['-l', directory], { stdio: 'pipe' });
    rmSync(directory, { recursive: true, force: true });
    rmSync(image, { force: true });
  });
  try {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('needs root on Linux');
    writeFileSync(image, '');
    truncateSync(image, bytes);
    execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'pipe' });
    execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, directory], { stdio: 'pipe' });
    mounted = true;
    const device = execFileSync('findmnt', ['-no', 'SOURCE', directory], { encoding: 'utf8' }).trim();
    const trigger = `/sys/fs/ext4/${basename(device)}/trigger_fs_error`;
    if (!existsSync(trigger)) throw new Error(`${trigger} is not there`);
    return { directory, fail: () => writeFileSync(trigger, '1') };
  } catch (error) {
    t.skip(`no disk that fails: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
