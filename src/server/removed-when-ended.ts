// Files and folders of a command that must not outlive it: they hold data in plain sight of their readers, or of whoever has the keys.
import { rmSync } from 'node:fs';

/** Those that end a process unless it listens. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A thread of the process may write there at the moment. */
const TRIES = 10;

/** Runs `work`. When it fails, or a signal ends the process meanwhile, the folder is removed first. */
export function removedUnlessDone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  return undoneUnlessDone(() => rmSync(folder, { recursive: true, force: true, maxRetries: TRIES }), work);
}

/** Runs `work`. When it fails, or a signal ends the process meanwhile, `undo` is called first. */
export async function undoneUnlessDone<T>(undo: () => void, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals): void => {
    undo();
    forget();
    process.kill(process.pid, signal);
  };
  const forget = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, end);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work();
  } catch (error) {
    undo();
    throw error;
  } finally {
    forget();
  }
}
