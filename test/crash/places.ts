// The places at which a preloaded module ends a server. Several works run at once, and each stops at a place of its own.
// When all have stopped, the process ends: one kill shows what it leaves of a work that was at any of the places.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The places of works by their names. */
export type Places = Readonly<Record<string, string | number>>;

const fileOf = (folder: string): string => join(folder, 'places.json');

/** The process that watches the folder ends when every work is at its place. */
export function armPlaces(folder: string, places: Places): void {
  writeFileSync(fileOf(folder), JSON.stringify(places));
}

/** False when the process has ended at the places, or was never armed. */
export function isArmed(folder: string): boolean {
  return existsSync(fileOf(folder));
}

/** For the process that is to end. */
export class PlaceWatch {
  readonly #folder: string;
  readonly #stopped = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A work came to a place. Resolves at once, or never where the work is to stop. */
  async reach(work: string, place: string | number): Promise<void> {
    if (!isArmed(this.#folder)) return;
    const places = JSON.parse(readFileSync(fileOf(this.#folder), 'utf8')) as Places; // written by armPlaces
    if (places[work] !== place) return;
    this.#stopped.add(work);
    if (this.#stopped.size === Object.keys(places).length) {
      // Each place is reached once.
      rmSync(fileOf(this.#folder));
      process.kill(process.pid, 'SIGKILL');
    }
    await new Promise<never>(() => undefined);
  }
}
