// Ends this process at a chosen step to the disk: before the n-th changing call of node:fs, or around the n-th commit.
// A write is cut in half first. The kernel keeps earlier writes: this simulates a killed process, not a power failure.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { FaultyLog } from '../../src/engine/log/faulty.ts';
import type { Append, Sequence } from '../../src/engine/log/log.ts';

let stepsLeft = Number.POSITIVE_INFINITY;

/** From now on the process ends itself before step number `steps`. */
export function armCut(steps: number): void {
  stepsLeft = steps;
}

function step(last: () => void = () => undefined): void {
  stepsLeft -= 1;
  if (stepsLeft > 0) return;
  last();
  process.kill(process.pid, 'SIGKILL');
}

/** Wraps the calls of node:fs that the engine writes with; named imports see the wrappers too. */
export function watchFileSystem(): void {
  for (const name of ['fsyncSync', 'fdatasyncSync', 'renameSync', 'unlinkSync', 'linkSync', 'rmSync'] as const) {
    const original = fs[name] as (...given: unknown[]) => unknown;
    Object.assign(fs, {
      [name]: (...given: unknown[]) => {
        step();
        return original(...given);
      },
    });
  }
  const write = fs.writeSync as (fd: number, bytes: Uint8Array, ...rest: (number | undefined)[]) => number;
  const cutWrite = (fd: number, bytes: Uint8Array, offset = 0, length = bytes.length - offset, position?: number) => {
    step(() => write(fd, bytes, offset, Math.floor(length / 2), position));
    return write(fd, bytes, offset, length, position);
  };
  Object.assign(fs, { writeSync: cutWrite });
  syncBuiltinESMExports();
}

/** A log whose commits count as steps: one before, one between the commit and the following work. */
export class CutLog extends FaultyLog {
  override async append(append: Append): Promise<Sequence> {
    step();
    const sequence = await super.append(append);
    step();
    return sequence;
  }
}
