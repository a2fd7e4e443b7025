// A folder of a command that must not outlive it: it holds data in plain sight of whoever has its keys.
import { rmSync } from 'node:fs';

/** Those that end a process unless it listens. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A thread of the process may write there at the moment. */
const TRIES = 10;

/** Runs `work`. When it fails, or a signal ends the process meanwhile, the folder is removed first. */
export async function removedUnlessDone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: TRIES });
  const end = (signal: NodeJS.Signals): void => {
    remove();
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
    remove();
    throw error;
  } finally {
    forget();
  }
}
