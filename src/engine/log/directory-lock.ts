// One server a data directory. The lock is a file that names the process that holds it; a process that is gone holds
// nothing, so its lock is taken over. It covers every shard of the directory, in every thread of the process.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFileError, storageError } from '../durable-file.ts';
import { EngineError } from '../errors.ts';

const LOCK_FILE = 'granary.lock';
/** Each turn another process won or a stale lock went; more than a few turns is a fight that is better reported. */
const TAKE_ATTEMPTS_MAX = 8;

interface Holder {
  readonly pid: number;
  /** When the process started, in the kernel's count: tells a process from a later one with its number. '' if unknown. */
  readonly started: string;
  /** Tells two locks of one process apart. */
  readonly nonce: string;
}

export interface DirectoryLock {
  readonly directory: string;
  /** Gives the directory back. Calling again does nothing. */
  release(): void;
}

/**
 * Locks `directory` (made when absent) for this process. STO-E001 that names the holder's process id and the directory
 * when a live process, this one included, has it.
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, LOCK_FILE);
  const mine: Holder = { pid: process.pid, started: startOf(process.pid), nonce: randomBytes(8).toString('hex') };
  for (let attempt = 0; attempt < TAKE_ATTEMPTS_MAX; attempt++) {
    if (createWhole(path, mine)) return { directory, release: () => release(path, mine) };
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (holder !== 'unreadable' && isAlive(holder)) throw inUse(directory, holder);
    removeStale(path, holder);
  }
  throw new EngineError('STO-E001', `the lock of ${directory} keeps changing hands; other servers are starting there`);
}

function inUse(directory: string, holder: Holder): EngineError {
  const who = holder.pid === process.pid ? `this process (${holder.pid})` : `process ${holder.pid}`;
  return new EngineError(
    'STO-E001',
    `${directory} is in use by ${who}; one server at a time may open a data directory`,
  );
}

/** Makes the lock file with its content at once (a hard link either appears whole or not); false when there is one. */
function createWhole(path: string, holder: Holder): boolean {
  const temporary = `${path}.${holder.nonce}`;
  try {
    writeFileSync(temporary, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return false;
    if (isFileError(error) && (error.code === 'EPERM' || error.code === 'ENOTSUP')) return createPlain(path, holder);
    throw storageError(`${path} cannot be made`, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** For file systems without hard links. */
function createPlain(path: string, holder: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') return false;
    throw storageError(`${path} cannot be made`, error);
  }
}

function readHolder(path: string): Holder | 'unreadable' | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (isFileError(error) && error.code === 'ENOENT') return undefined;
    throw storageError(`${path} cannot be read`, error);
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return 'unreadable';
    const { pid, started, nonce } = parsed as Partial<Holder>; // Each is checked on the next line.
    if (typeof pid !== 'number' || typeof started !== 'string' || typeof nonce !== 'string') return 'unreadable';
    return { pid, started, nonce };
  } catch {
    // A machine that lost power can leave an empty file. Nobody that runs holds such a lock.
    return 'unreadable';
  }
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it is there and another user's.
    if (isFileError(error) && error.code === 'ESRCH') return false;
  }
  // A process of that number runs. In a container numbers begin anew each time, so ask whether it is the same one.
  const started = startOf(holder.pid);
  return started === '' || holder.started === '' || started === holder.started;
}

/** Boot and start time of a process, from /proc; '' where there is none. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; the start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot}/${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

/**
 * Deletes a dead holder's lock. Two processes may have seen it: the one that makes the guard, named for this very lock,
 * looks again whether it is still there, so that none deletes the lock which the other just made.
 */
function removeStale(path: string, stale: Holder | 'unreadable'): void {
  const guard = `${path}.stale-${stale === 'unreadable' ? 'unreadable' : stale.nonce}`;
  const mine: Holder = { pid: process.pid, started: startOf(process.pid), nonce: randomBytes(8).toString('hex') };
  if (!createWhole(guard, mine)) {
    const other = readHolder(guard);
    if (other === undefined || (other !== 'unreadable' && isAlive(other))) return;
    rmSync(guard, { force: true });
    return;
  }
  try {
    const now = readHolder(path);
    const same = now === 'unreadable' ? stale === 'unreadable' : stale !== 'unreadable' && now?.nonce === stale.nonce;
    if (same) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function release(path: string, mine: Holder): void {
  const holder = readHolder(path);
  if (holder !== undefined && holder !== 'unreadable' && holder.nonce === mine.nonce) rmSync(path, { force: true });
}
