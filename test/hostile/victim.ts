// Starts a server to be attacked, and tells how it fares.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

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
  /** Ends it; fails when it ended before, ended badly or complained. */
  close(): Promise<void>;
}

export async function startVictim(options: Record<string, string> = {}): Promise<Victim> {
  const entry = join(import.meta.dirname, 'victim-child.ts');
  const child = spawn(process.execPath, [entry, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const complaints: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => complaints.push(text));
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  const ready = await Promise.race([firstLine(child), ended]);
  if (typeof ready !== 'string') throw new Error(`the server ended before it was ready: ${complaints.join('')}`);
  // The line that victim-child.ts writes.
  const told = JSON.parse(ready) as { http: string; grpc: string; key: string };
  return {
    ...told,
    httpPort: Number(new URL(told.http).port),
    complaints,
    residentBytes: () => residentBytes(child.pid),
    close: async () => {
      const alive = child.exitCode === null && child.signalCode === null;
      child.stdin.end();
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

function residentBytes(pid: number | undefined): number {
  try {
    const told = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Number(told?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
