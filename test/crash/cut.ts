// Ends this process at a chosen step on its way to the disk: before the n-th call of node:fs that changes something, or
// around the n-th commit. A write is cut in half first. What the kernel was told stays told: this is a killed process,
// not a power cut.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { FaultyLog } from '../../src/engine/log/faulty.ts';
import type { Append, Sequence } from '../../src/engine/log/log.ts';

let stepsLeft = Number.POSITIVE_INFINITY;

/** From now on the process ends itself before its `steps`-th step. */
export function armCut(steps: number): void {
  stepsLeft = steps;
}

function step(last: () => void = () => undefined): void {
  stepsLeft -= 1;
  if (stepsLeft > 0) return;
  last();
  process.kill(process.pid, 'SIGKILL');
}

/** Replaces the calls of node:fs that the engine writes with; modules that imported them by name see the new ones. */
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

/** A log whose commits are steps as well: one before, one between the commit and what follows it. */
export class CutLog extends FaultyLog {
  override async append(append: Append): Promise<Sequence> {
    step();
    const sequence = await super.append(append);
    step();
    return sequence;
  }
}
