// Rounds of: start, check everything, write from many clients, kill. A directory lives through several rounds, so that
// damage of one crash meets the next.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '../support/random.ts';
import { check } from './check.ts';
import { type Life, Lost } from './door.ts';
import { Knowledge } from './knowledge.ts';
import { Workload } from './workload.ts';

/** When a process ends: after this many acknowledged requests, or at one of its steps to the disk. */
export interface Ending {
  readonly acknowledgements: number;
  readonly cut?: { readonly steps: number; readonly from: 'start' | 'work' };
}

export interface Target {
  /** Partitions of each memory; default 1. An act on several is not one transaction. */
  readonly partitions?: number;
  /** True: what holds the truth ends under load, and upkeep, which does not wait for it, may be refused. */
  readonly endsStore?: boolean;
  /** Starts a process on `directory`. Rejects with Lost when it ends during the start. */
  start(directory: string, ending: Ending, random: Random): Promise<Life>;
  /** Starts counting towards the cut of `ending`. */
  arm(life: Life): void;
  /** Called before each start, while nothing runs. */
  readonly between?: (directory: string, round: number) => void;
  /** Checks a directory after its last process. Resolves to problems, in words. */
  readonly after?: (directory: string, knowledge: Knowledge) => Promise<readonly string[]>;
}

export interface CampaignOptions {
  readonly target: Target;
  readonly rounds: number;
  readonly seed: number;
  /** Rounds that a directory lives. */
  readonly roundsADirectory?: number;
  readonly acknowledgementsMax?: number;
  readonly log?: (line: string) => void;
}

export interface Report {
  readonly rounds: number;
  readonly kills: number;
  readonly acknowledged: number;
  readonly problems: readonly string[];
}

const ROUNDS_A_DIRECTORY = 12;
const ACKNOWLEDGEMENTS_MAX = 500;
/** A process that dies this often while it starts will never start. */
const STARTS_MAX = 20;

export async function campaign(options: CampaignOptions): Promise<Report> {
  const total = { rounds: 0, kills: 0, acknowledged: 0, problems: [] as string[] };
  const perDirectory = options.roundsADirectory ?? ROUNDS_A_DIRECTORY;
  for (let from = 0; from < options.rounds && total.problems.length === 0; from += perDirectory) {
    const directory = mkdtempSync(join(tmpdir(), 'granary-crash-'));
    const seed = options.seed + from;
    const life = new DirectoryLife(directory, new Random(seed), options);
    const rounds = Math.min(perDirectory, options.rounds - from);
    const problems = await life.run(rounds);
    total.rounds += life.rounds;
    total.kills += life.kills;
    total.acknowledged += life.knowledge.acknowledged;
    total.problems.push(...problems.map((problem) => `seed ${seed} round ${life.rounds}: ${problem}`));
    options.log?.(
      `seed ${seed}: ${life.rounds} rounds, ${life.kills} kills, ${life.knowledge.acknowledged} acknowledged, ${problems.length} problems`,
    );
    if (problems.length > 0) options.log?.(`the directory is kept: ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
  return total;
}

class DirectoryLife {
  readonly knowledge: Knowledge;
  rounds = 0;
  kills = 0;
  readonly #directory: string;
  readonly #random: Random;
  readonly #options: CampaignOptions;

  constructor(directory: string, random: Random, options: CampaignOptions) {
    this.#directory = directory;
    this.#random = random;
    this.#options = options;
    this.knowledge = new Knowledge(options.target.partitions ?? 1);
  }

  async run(rounds: number): Promise<readonly string[]> {
    const { target } = this.#options;
    for (let round = 0; round < rounds; round++) {
      target.between?.(this.#directory, round);
      const problems = await this.#round();
      this.rounds += 1;
      if (problems.length > 0) return problems;
    }
    return this.#end();
  }

  async #round(): Promise<readonly string[]> {
    const { target, acknowledgementsMax = ACKNOWLEDGEMENTS_MAX } = this.#options;
    const random = this.#random;
    const ending = { acknowledgements: random.between(1, acknowledgementsMax), ...this.#chooseCut() };
    let life: Life;
    try {
      life = await this.#start(ending);
    } catch (error) {
      return [`it did not start: ${error instanceof Error ? error.stack : error}`];
    }
    try {
      const problems = await this.#settle(life, false);
      if (problems.length > 0) return [...problems, life.stderr()];
      let left = ending.acknowledgements;
      const workload = new Workload({
        door: life.door,
        knowledge: this.knowledge,
        endsStore: target.endsStore ?? false,
        random,
        onAcknowledged: () => {
          left -= 1;
          if (left === 0) void life.kill();
        },
      });
      target.arm(life);
      await workload.run();
      if (workload.problems.length > 0) return [...workload.problems, life.stderr()];
    } catch (error) {
      // The cut may come during the check.
      if (!(error instanceof Lost)) return [String(error instanceof Error ? error.stack : error), life.stderr()];
    } finally {
      await life.kill();
    }
    this.kills += 1;
    return [];
  }

  /** An interrupted start is repeated, the last time without a cut. */
  async #start(ending: Ending): Promise<Life> {
    const { target } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const left = attempt === STARTS_MAX ? { acknowledgements: ending.acknowledgements } : ending;
      try {
        return await target.start(this.#directory, left, this.#random);
      } catch (error) {
        if (!(error instanceof Lost) || attempt === STARTS_MAX) throw error;
        this.kills += 1;
        ending = { acknowledgements: ending.acknowledgements, ...this.#chooseCut() };
      }
    }
  }

  async #settle(life: Life, all: boolean): Promise<readonly string[]> {
    await this.knowledge.sendAgain(life.door);
    return check(life.door, this.knowledge, this.#random, all);
  }

  #chooseCut(): Pick<Ending, 'cut'> {
    const random = this.#random;
    const choice = random.next();
    if (choice < 0.25) return {};
    if (choice < 0.4) return { cut: { steps: random.between(1, 60), from: 'start' } };
    // Small numbers of steps are more frequent, so that a cut hits short acts as often as long ones.
    return { cut: { steps: Math.ceil(400 ** random.next()), from: 'work' } };
  }

  /** Checks everything, stops in order, and checks everything again. */
  async #end(): Promise<readonly string[]> {
    const { target } = this.#options;
    const ending = { acknowledgements: Number.POSITIVE_INFINITY };
    for (const last of [false, true]) {
      const life = await target.start(this.#directory, ending, this.#random);
      const problems = [...(await this.#settle(life, true))];
      const code = await life.stop();
      if (code !== 0) problems.push(`it ended with exit code ${code}: ${life.stderr()}`);
      if (problems.length > 0) return problems;
      if (last) return (await target.after?.(this.#directory, this.knowledge)) ?? [];
    }
    return [];
  }
}
