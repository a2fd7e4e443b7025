// Interface to a store under test: engines in a child process, or the server itself.
import type { Output } from '../../src/shards/protocol.ts';
import type { WriteRequest } from '../model/request.ts';

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
  /** Those members that the door tells. */
  | { readonly seen: Partial<Output<'get'>> }
  | { readonly hashes: readonly string[] }
  | { readonly total: number };

export interface Upkeep {
  readonly kind: 'flush' | 'compact' | 'rebuild' | 'rotate';
}

/** Calls reject with `Refused` for an error of the store, and with `Lost` when it ends before it answers. */
export interface Door {
  createMemory(memory: number): Promise<void>;
  dropMemory(memory: number): Promise<void>;
  /** The answer, or of its members those that the door tells: addresses, counts, fingerprints. */
  send(request: WriteRequest): Promise<object>;
  upkeep(memory: number, kind: Upkeep['kind']): Promise<void>;
  look(memory: number, questions: readonly Question[]): Promise<readonly Answer[]>;
  /** Problems found by a full check of the store, in words. */
  verify(): Promise<readonly string[]>;
  audit(memory: number): Promise<{ readonly valid: boolean; readonly checked: number }>;
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
