// Starts a server to be attacked, and reports its state.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childFile } from '../support/program.ts';
import type { StallReport } from '../support/stall-probe.ts';

export interface Victim {
  /** `http://host:port`. */
  readonly http: string;
  readonly httpPort: number;
  /** `host:port`. */
  readonly grpc: string;
  readonly key: string;
  /** Logged errors; each is a bug. */
  readonly complaints: readonly string[];
  /** Resident bytes; 0 if the system does not report them. */
  residentBytes(): number;
  /** Peak resident bytes; undefined if the system does not report them. */
  peakBytes(): number | undefined;
  /** How long its threads were blocked since the last call, in CPU time (test/support/stall-probe.ts). */
  stalls(): Promise<StallReport>;
  /** Ends the server; fails when it had ended before, ended with an error or logged one. */
  close(): Promise<void>;
}

export async function startVictim(options: Record<string, string> = {}): Promise<Victim> {
  const entry = childFile(join(import.meta.dirname, 'victim-child.ts'));
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
    return report as StallReport; // sent only by the probe
  };
  // The current threads are the shards' own.
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
  return new Promise(() => undefined); // it ended: `ended` reports it
}

function residentBytes(pid: number | undefined, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | undefined {
  try {
    const match = new RegExp(`${what}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return match === null ? undefined : Number(match[1]) * 1_024;
  } catch {
    return undefined;
  }
}
