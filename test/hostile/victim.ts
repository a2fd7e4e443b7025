// Starts a server to be attacked, and tells how it fares.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StallReport } from '../support/stall-probe.ts';

export interface Victim {
  /** `http://host:port`. */
  readonly http: string;
  readonly httpPort: number;
  /** `host:port`. */
  readonly grpc: string;
  readonly key: string;
  /** What it logged as errors; everything here is a bug. */
  readonly complaints: readonly string[];
  /** Resident bytes; 0 where the system does not tell. */
  residentBytes(): number;
  /** The most that it ever had resident; undefined where the system does not tell. */
  peakBytes(): number | undefined;
  /** How long its threads were held since this was last asked, in CPU time (test/support/stall-probe.ts). */
  stalls(): Promise<StallReport>;
  /** Ends it; fails when it ended before, ended badly or complained. */
  close(): Promise<void>;
}

export async function startVictim(options: Record<string, string> = {}): Promise<Victim> {
  const entry = join(import.meta.dirname, 'victim-child.ts');
  const probe = join(import.meta.dirname, '../support/stall-probe.ts');
  const child = spawn(process.execPath, ['--import', probe, entry, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
  });
  assert.ok(child.stdin && child.stdout && child.stderr);
  const { stdin } = child;
  const complaints: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const ready = await Promise.race([firstLine(child), ended]);
  if (typeof ready !== 'string') throw new Error(`the server ended before it was ready: ${complaints.join('')}`);
  const stalls = async (): Promise<StallReport> => {
    child.send('stalls');
    const [report] = await once(child, 'message');
    return report as StallReport; // what the probe sends, and nobody else
  };
  // The threads of now are the shards' own.
  await stalls();
  // The line that victim-child.ts writes.
  const match = JSON.parse(ready) as { http: string; grpc: string; key: string };
  return {
    ...match,
    httpPort: Number(new URL(match.http).port),
    complaints,
    residentBytes: () => residentBytes(child.pid) ?? 0,
    peakBytes: () => residentBytes(child.pid, 'VmHWM'),
    stalls,
    close: async () => {
      const alive = child.exitCode === null && child.signalCode === null;
      stdin.end();
      const code = await ended;
      assert.ok(alive, `the server ended under attack with ${code}: ${complaints.join('')}`);
      assert.deepEqual(complaints, []);
      assert.equal(code, 0);
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) return line;
  return new Promise(() => undefined); // it ended: `ended` says so
}

function residentBytes(pid: number | undefined, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | undefined {
  try {
    const match = new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return match === null ? undefined : Number(match[1]) * 1_024;
  } catch {
    return undefined;
  }
}
