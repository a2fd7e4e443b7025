// Interface to a store under test: engines in a child process, or the server itself.

/** A belief that the campaign writes. `word` occurs in no other grain, so searches can identify it. */
export interface Item {
  readonly subject: string;
  readonly word: string;
  readonly visits: number;
  readonly user: string | undefined;
}

/** A grain as a reader sees it. */
export interface Seen {
  readonly hash: string;
  readonly subject: string;
  readonly word: string;
  readonly visits: number;
  readonly user: string | undefined;
  readonly supersededBy: string | undefined;
  readonly supersedes: string | undefined;
}

export type Question =
  | { readonly ask: 'get'; readonly hash: string }
  /** Hashes of every version with that subject. */
  | { readonly ask: 'subject'; readonly subject: string }
  /** Hashes of every version that has the word. */
  | { readonly ask: 'word'; readonly word: string }
  | { readonly ask: 'history'; readonly hash: string }
  /** Number of grains. */
  | { readonly ask: 'total' };

/** `code` for an error, otherwise the answer. */
export type Answer =
  | { readonly code: string }
  | { readonly seen: Seen }
  | { readonly hashes: readonly string[] }
  | { readonly total: number };

export interface Upkeep {
  readonly kind: 'flush' | 'compact' | 'rebuild' | 'rotate';
}

/** Calls reject with `Refused` for an error of the store, and with `Lost` when it ends before it answers. */
export interface Door {
  /** True when `Seen.supersedes` is reported; otherwise it follows from the other versions. */
  readonly tellsPredecessor: boolean;
  createMemory(memory: number): Promise<void>;
  dropMemory(memory: number): Promise<void>;
  add(memory: number, item: Item, key: string | undefined): Promise<string>;
  /** By item: the hash, or the code of a refusal. */
  addBatch(memory: number, items: readonly Item[]): Promise<readonly ({ hash: string } | { code: string })[]>;
  /** The new version's hash. */
  supersede(memory: number, oldHash: string, item: Item, key: string | undefined): Promise<string>;
  accumulate(memory: number, hash: string, change: Accumulation, key: string | undefined): Promise<Accumulated>;
  forget(memory: number, target: { readonly subject: string } | { readonly hash: string }): Promise<readonly string[]>;
  eraseUser(memory: number, user: string): Promise<Erased>;
  upkeep(memory: number, kind: Upkeep['kind']): Promise<void>;
  look(memory: number, questions: readonly Question[]): Promise<readonly Answer[]>;
  /** Problems found by a full check of the store, in words. */
  verify(): Promise<readonly string[]>;
  audit(memory: number): Promise<{ readonly valid: boolean; readonly checked: number }>;
}

/** Added to `visits`, and the word that the new version carries. */
export interface Accumulation {
  readonly delta: number;
  readonly word: string;
}
export interface Accumulated {
  readonly oldHash: string;
  readonly newHash: string;
}
export interface Erased {
  readonly count: number;
  readonly fingerprint: string;
}

export class Refused extends Error {
  override name = 'Refused';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The process ended before it answered: the call may have been executed or not. */
export class Lost extends Error {
  override name = 'Lost';
}

/** A process that holds the store. */
export interface Life {
  readonly door: Door;
  /** Kills the process with SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks the process to stop in order; resolves to its exit code, null after a signal. */
  stop(): Promise<number | null>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Lines that it wrote to stderr, for a report. */
  stderr(): string;
}
