// Prints a scenario's result as a table and as a line of JSON.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type CpuFigures, cpuLines } from './cpu-table.ts';
import { type Aim, isMet, type Measured, type Options, type Scenario, type Size, type Skipped } from './scenario.ts';

export interface ScenarioRun extends Pick<Scenario, 'name' | 'about' | 'aims'> {
  readonly result: Measured | Skipped;
  readonly seconds: number;
  /** Per operation, by name. */
  readonly cpu: Readonly<Record<string, CpuFigures>>;
  /** Of the whole run: this process and those that it started. */
  readonly wholeCpu: Readonly<Record<string, CpuFigures>>;
}

export interface Where {
  /** The tree whose benchmarks run; default: this one. */
  readonly root?: string;
  /** Ends the run, with what it started. */
  readonly signal?: AbortSignal;
}

const ROOT = join(import.meta.dirname, '..', '..');
/** A scenario that gets no turn of its loop does not notice that it shall end. */
const END_MS_MAX = 5_000;

/**
 * Runs one scenario in a separate process. Rejects when the process ends without a result, and with an AbortError when
 * the signal ended it.
 */
export async function runScenario(name: string, options: Options, where: Where = {}): Promise<ScenarioRun> {
  const { root = ROOT, signal } = where;
  signal?.throwIfAborted();
  const inRoot = (module: URL): URL => pathToFileURL(join(root, relative(ROOT, fileURLToPath(module))));
  const slots = inRoot(new URL('./thread-slots.ts', import.meta.url));
  // Benchmarks of an older revision count no threads.
  const counting = existsSync(slots) ? ['--import', slots.href] : [];
  const child = fork(inRoot(new URL('./scenario-process.ts', import.meta.url)), {
    cwd: root,
    execArgv: [...process.execArgv, ...counting],
    // The terminal's Ctrl-C must not end it before it removes what it has made.
    detached: signal !== undefined,
  });
  const ended = once(child, 'exit');
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    child.disconnect();
    killing = setTimeout(() => child.kill('SIGKILL'), END_MS_MAX);
  };
  signal?.addEventListener('abort', end);
  try {
    child.send({ name, options });
    const [message] = await Promise.race([
      once(child, 'message'),
      ended.then(([code, by]) => {
        signal?.throwIfAborted();
        throw new Error(`scenario ${name} ended with ${code ?? by}`);
      }),
    ]);
    await ended;
    return message as ScenarioRun; // what scenario-process.ts sends
  } finally {
    signal?.removeEventListener('abort', end);
    clearTimeout(killing);
  }
}

/** The table: one row per metric with its aim; at sizes other than full, aims are shown but not judged. */
export function tableOf({ name, about, aims, result, seconds, cpu, wholeCpu }: ScenarioRun, size: Size): string {
  const head = `${name}: ${about}`;
  if ('skipped' in result) return `${head}\n  skipped: ${result.skipped}\n`;
  const rows = Object.entries(result.metrics).map(([metric, value]) => {
    const aim = aims.find((one) => one.metric === metric);
    return [metric, shown(value), aim === undefined ? '' : aimText(aim), judged(aim, value, size)];
  });
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)));
  const lines = rows.map(([metric, value, aim, met]) =>
    `  ${metric!.padEnd(widths[0]!)}  ${value!.padStart(widths[1]!)}  ${aim!.padEnd(16)}${met}`.trimEnd(),
  );
  const cpuText = [
    ...cpuLines('CPU us per operation', cpu, 1),
    ...cpuLines('CPU s, whole run', wholeCpu, 1_000_000),
    ...(hasThreads(wholeCpu) ? [] : ['  The system reports no CPU by thread (it has no /proc/PID/task/*/schedstat).']),
  ];
  const parameters = Object.entries(result.parameters).map(([key, value]) => `${key} ${value}`);
  return [head, `  (${[`${seconds.toFixed(1)} s`, ...parameters].join(', ')})`, ...lines, ...cpuText, ''].join('\n');
}

/** Without the system's counters nothing can tell this process's libuv from its other threads. */
function hasThreads(whole: Readonly<Record<string, CpuFigures>>): boolean {
  return Object.values(whole).some(({ gc_ratio }) => gc_ratio !== null);
}

function judged(aim: Aim | undefined, value: number, size: Size): string {
  if (aim === undefined || size !== 'full') return '';
  return isMet(aim, value) ? 'met' : 'MISSED';
}

export function aimText({ atLeast, atMost }: Aim): string {
  return [...(atLeast === undefined ? [] : [`>= ${atLeast}`]), ...(atMost === undefined ? [] : [`<= ${atMost}`])].join(
    ', ',
  );
}

function shown(value: number): string {
  return Math.abs(value) >= 10_000 ? Math.round(value).toLocaleString('en') : String(value);
}

/** The JSON line: scenario, commit, machine and results. */
export function jsonOf(
  { name, aims, result, seconds, cpu, wholeCpu }: ScenarioRun,
  size: Size,
  commit: string,
): string {
  const machine = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const head = { scenario: name, size, commit, node: process.version, machine, seconds: Number(seconds.toFixed(1)) };
  return JSON.stringify(
    'skipped' in result ? { ...head, ...result } : { ...head, ...result, cpu, whole_cpu: wholeCpu, aims },
  );
}
