// Collects the outcome of the lines of one file and prints it for people or programs.
import { bytes, counted, duration, number, printJson, printLine, printPairs, printTable } from '../output.ts';
import type { ErrorsFile } from './errors-file.ts';

export interface LineError {
  readonly line: number;
  readonly code: string;
  readonly error: string;
}

/** Most errors to show without an errors file; further ones are counted by code. */
const SHOWN_MAX = 10;
const MEMORIES_SHOWN = 20;

export class ImportReport {
  added = 0;
  duplicates = 0;
  errors = 0;
  /** Lines read, empty ones included. */
  lines = 0;
  bytes = 0;
  readonly byMemory = new Map<string, number>();
  readonly #shown: LineError[] = [];
  readonly #byCode = new Map<string, number>();
  readonly #notes = new Map<string, number>();
  readonly #file: string;
  readonly #allErrors: ErrorsFile | undefined;
  readonly #startedMs = performance.now();

  /** `file`: whose lines they are. `allErrors`: takes every error. */
  constructor(file: string, allErrors: ErrorsFile | undefined) {
    this.#file = file;
    this.#allErrors = allErrors;
  }

  took(memory: string, isDuplicate: boolean): void {
    if (isDuplicate) this.duplicates += 1;
    else this.added += 1;
    this.byMemory.set(memory, (this.byMemory.get(memory) ?? 0) + 1);
  }

  refused(line: number, code: string, message: string): void {
    const error = message.startsWith(`${code}: `) ? message.slice(code.length + 2) : message;
    this.errors += 1;
    this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + 1);
    if (this.#shown.length < SHOWN_MAX) this.#shown.push({ line, code, error });
    this.#allErrors?.write({ file: this.#file, line, code, error });
  }

  noted(kind: string): void {
    // Notes quote values, so their number could grow with the file; it is bounded.
    if (this.#notes.size >= SHOWN_MAX && !this.#notes.has(kind)) return;
    this.#notes.set(kind, (this.#notes.get(kind) ?? 0) + 1);
  }

  /** Resolves when more errors may come (ErrorsFile.room). */
  async room(): Promise<void> {
    await this.#allErrors?.room();
  }

  /** `stopped`: the line to continue from when the import did not finish. */
  print(options: { readonly json: boolean; readonly dryRun: boolean; readonly stopped: number | undefined }): void {
    const ms = performance.now() - this.#startedMs;
    if (options.json) {
      printJson(this.#json(ms, options));
      return;
    }
    const done = this.added + this.duplicates;
    printPairs([
      [options.dryRun ? 'would be added' : 'added', this.added],
      ...(options.dryRun ? [] : [['duplicates', this.duplicates] as const]),
      ['errors', this.errors],
      ['lines', this.lines],
      ['took', `${duration(ms)}, ${number(Math.round((done / ms) * 1000))} grains/s, ${bytes(this.bytes)}`],
    ]);
    this.#printMemories();
    for (const [note, count] of this.#notes) printLine(`Note (${counted(count, 'line')}): ${note}`);
    this.printErrors('line');
  }

  #json(ms: number, { dryRun, stopped }: { readonly dryRun: boolean; readonly stopped: number | undefined }): unknown {
    return {
      dry_run: dryRun,
      added: this.added,
      duplicates: this.duplicates,
      errors: this.errors,
      lines: this.lines,
      elapsed_ms: Math.round(ms),
      memories: Object.fromEntries(this.byMemory),
      errors_by_code: Object.fromEntries(this.#byCode),
      first_errors: this.#shown,
      notes: [...this.#notes].map(([note, count]) => ({ note, lines: count })),
      go_on_from_line: stopped,
    };
  }

  #printMemories(): void {
    if (this.byMemory.size < 2) return;
    printLine();
    const largest = [...this.byMemory].sort(([, one], [, other]) => other - one);
    printTable([{ title: 'memory' }, { title: 'grains', align: 'right' }], largest.slice(0, MEMORIES_SHOWN));
    if (largest.length > MEMORIES_SHOWN)
      printLine(`and ${counted(largest.length - MEMORIES_SHOWN, 'more memory', 'more memories')}`);
  }

  /** `place`: the unit that error numbers count. */
  printErrors(place: 'line' | 'grain'): void {
    if (this.errors === 0) return;
    printLine();
    printTable(
      [{ title: place, align: 'right' }, { title: 'code' }, { title: 'error' }],
      this.#shown.map(({ line, code, error }) => [line, code, error]),
    );
    if (this.errors > this.#shown.length) {
      const counts = [...this.#byCode].map(([code, count]) => `${code} ${number(count)}`);
      printLine(`and ${number(this.errors - this.#shown.length)} more: ${counts.join(', ')} (--errors FILE saves all)`);
    }
  }
}
