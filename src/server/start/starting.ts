// The parameters that every step of a start gets.

import type { Spare } from '../../embed/spare.ts';
import type { Clock } from '../../engine/base/clock.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import type { Threads } from '../../shards/transport/pool.ts';
import type { ShardSet } from '../../shards/transport/shard-set.ts';
import type { Config } from '../config.ts';
import type { CopyReport } from '../control/replica/messages.ts';
import type { DirectoryLock } from '../directory-lock.ts';
import type { Openers } from '../embedding/embedders.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Logger } from '../log.ts';
import type { SeenFleet } from '../metering/node-families.ts';
import type { Handlers } from '../nodes/passing/passer.ts';
import type { Data } from './keyring.ts';

export interface ServerDeps {
  readonly clock?: Clock | undefined;
  readonly log?: Logger | undefined;
  /** Its abort ends a start: `startServer` closes what is open, and rejects with the signal's reason. */
  readonly stopping?: AbortSignal | undefined;
  /** Gets a function that tells whether the control log of a store must be opened again. */
  readonly watchControl?: ((isSpoiled: () => boolean) => void) | undefined;
  /** The worker's entry file; default: the one with the real engine. */
  readonly entry?: URL | undefined;
  /** Where the threads of shards come from. Only for tests, which use threads again. */
  readonly threads?: Threads | undefined;
  /** Called when the engines of this thread met a bug (`LocalOptions.onBroken`). */
  readonly onBroken?: (() => void) | undefined;
  /** Enables fault injection in shards. Only for tests. */
  readonly faults?: boolean | undefined;
  /** Removals repeat earlier ones without policy checks (`CallContext.repeats`). Only for a restore. */
  readonly repeats?: boolean | undefined;
  /** How to open embedders, instead of the configuration. Only for tests and benchmarks. */
  readonly openers?: ((spare: Spare) => Openers) | undefined;
  /** False for a command that opens the data itself: webhooks wait for the next server. */
  readonly sendsWebhooks?: boolean | undefined;
  /** False when the caller prints the warnings of the start itself. */
  readonly logsWarnings?: boolean | undefined;
  /** The node that the server leads: it has the shards, and keeps them when the server ends. */
  readonly node?: LedNode | undefined;
  /** The lock of the data directory, if the caller has taken it. The server releases it. */
  readonly lock?: DirectoryLock | undefined;
}

/** One of several nodes of a store, for the server that runs on it while it has the control log. */
export interface LedNode {
  /** Takes the control log. */
  readonly openData: (starting: Starting) => Promise<Data>;
  readonly pool: ShardSet;
  readonly fleet: () => SeenFleet;
  /** False when another node may have the control log: callers had better come over other connections. */
  readonly leads: () => boolean;
  /** Called before the ports are listened on. */
  readonly freePorts: () => Promise<void>;
  /** Requests that other nodes pass on, and those that came to this node before, are answered by these from now on. */
  readonly serve: (handlers: Handlers) => void;
  /** Takes no more of them, and waits for those under way. */
  readonly drainPassed: (deadlineMs: number) => Promise<void>;
  /** `heard` gets what happened on nodes with a copy of the control log. */
  readonly onReport: (heard: (report: CopyReport) => void) => void;
}

/** A server that is starting. A step registers at `lifecycle` what it opens, as soon as it is open. */
export interface Starting {
  readonly config: Config;
  readonly deps: ServerDeps;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lifecycle: Lifecycle;
  /** Tells the operator. */
  readonly warn: (text: string) => void;
}

/** Waits for `work`, at most `ms`. */
export async function within(work: Promise<void>, ms: number): Promise<void> {
  await isSettledWithin(work, ms);
}
