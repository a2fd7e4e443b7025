// A node's part in a deployment of several: it tells that it lives, looks at the owners of the shards, takes free ones up to
// its share, and hands over one at a time what is another node's share. Calls find their shards by the routes that it sets.
import { EngineError } from '../../engine/base/errors.ts';
import {
  DATABASE_CLOSING_MS,
  NODE_LOOK_MS,
  NODE_LOOK_SOON_MS,
  NODE_REFUSED_KEPT_MS,
  NODE_REFUSED_MS_MAX,
  NODE_REFUSED_TRIES,
  SHARDS_TAKEN_MAX,
} from '../../engine/base/limits.ts';
import { isSettledWithin } from '../../engine/base/settled-within.ts';
import type { Database } from '../../engine/log/postgres/database.ts';
import {
  drainNode,
  enterNode,
  type Fleet,
  type FleetNode,
  leaveFleet,
  type NodeCopies,
  type NodeEntry,
  noteRefused,
  type RefusedShard,
  readFleet,
  seeNode,
} from '../../engine/log/postgres/fleet.ts';
import type { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import type { RawShardCaller } from '../transport/client.ts';
import type { ShardSet, ShardSetLog } from '../transport/shard-set.ts';
import type { ShardNotice } from './link/notice.ts';
import { Moves } from './moves.ts';
import type { RoutedShard } from './routed-shard.ts';
import { nextHandOver, type Owners, spread, toTake } from './spread.ts';

export interface OwnershipOptions {
  readonly self: NodeEntry;
  readonly database: Database;
  readonly leaseMs: number;
  /** By shard. */
  readonly routes: readonly RoutedShard[];
  /** Its shards are opened when they are asked for. */
  readonly set: Pick<ShardSet, 'open' | 'closeShard' | 'isOpen' | 'caller' | 'fetch' | 'prepare'>;
  readonly leases: LeaseTable;
  /** A caller for the shard of another node. */
  readonly callerAt: (node: FleetNode, shard: number) => RawShardCaller;
  /** Tells another node to look at the owners at once, and what is to be done for a shard. */
  readonly tellNode: (node: FleetNode, notice?: ShardNotice) => void;
  /** As of a node's copies. Default: it has none. */
  readonly controlCopyMs?: (() => number | undefined) | undefined;
  readonly log: ShardSetLog;
}

interface Refusal {
  /** Reported once for each reason. */
  readonly reason: string;
  /** When the next attempt may come. */
  readonly againMs: number;
  /** Attempts that failed one after the other. */
  readonly failures: number;
  /** Another node may do better. False while another node holds the shard, or the database is away. */
  readonly isOwn: boolean;
}

export class Ownership {
  readonly #options: OwnershipOptions;
  /** Shards that are being opened or closed. */
  readonly #busy = new Set<number>();
  /** Shards that could not be opened. */
  readonly #refused = new Map<number, Refusal>();
  /** The text with which they were reported to the others. */
  #reportedRefused = '[]';
  readonly #tasks = new Set<Promise<void>>();
  readonly #moving: Moves;
  #fleet: Fleet = { nodes: [], shards: [] };
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isWoken = false;
  #isLeaving = false;
  #isOver = false;
  /** Why the database refuses something, by what that is: each reason is reported once, and its end. */
  readonly #failures = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #nextMs = Number.POSITIVE_INFINITY;
  #beat: NodeJS.Timeout | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    const { set, tellNode, leases } = options;
    this.#moving = new Moves({
      set,
      tellNode,
      isDue: (shard, to) => !leases.isSpoiled(shard) && spread(this.#live(), this.#owners())[shard] === to,
    });
  }

  /** The nodes and shards as they were seen last, and how many milliseconds ago. */
  get fleet(): Fleet & { readonly ageMs: number } {
    return { ...this.#fleet, ageMs: performance.now() - this.#lookedMs };
  }

  /** Enters the node among the others and begins to take shards. Rejects with EngineError when the database refuses. */
  async start(): Promise<void> {
    const { database, self, leaseMs } = this.#options;
    await enterNode(database, self);
    this.#beat = setInterval(() => void this.#tellAlive(), leaseMs / 3);
    await this.#look();
  }

  /** Looks at the owners after so long, and soon when a look goes on. */
  wake(ms = NODE_LOOK_SOON_MS): void {
    this.#isWoken = true;
    if (this.#looking === undefined) this.#lookIn(ms);
  }

  /** For what another node tells. */
  heard(from: string, notice: ShardNotice | undefined): void {
    if (notice !== undefined) {
      const node = this.#live().find(({ id }) => id === from);
      if (notice.kind !== 'fetch') this.#moving.heard(from, notice);
      else if (node !== undefined && this.#options.routes[notice.shard]?.route.kind === 'there' && !this.#isLeaving)
        this.#moving.fetch(node, notice.shard);
    }
    // Without a notice, a shard was handed over: calls wait for it.
    this.wake(notice === undefined ? 0 : NODE_LOOK_SOON_MS);
  }

  /**
   * Hands all shards over, as long as other nodes can take them and for `handOverMs` at most, gives the rest back and removes
   * the node's entry.
   */
  async stop(handOverMs: number): Promise<void> {
    this.#isLeaving = true;
    const untilMs = performance.now() + handOverMs;
    const { set, routes, self, database } = this.#options;
    // Others take no shard of a node that seems to stay. The next start of the node takes the mark off.
    const marked = drainNode(database, self.id, true).catch(() => false);
    // Calls that wait go to the next owners.
    const isToGive = ({ shard, route }: RoutedShard): boolean => set.isOpen(shard) || route.kind === 'held';
    while (performance.now() < untilMs && this.#canGive() && routes.some(isToGive)) {
      this.wake();
      await new Promise((resolve) => setTimeout(resolve, NODE_LOOK_SOON_MS));
    }
    this.#isOver = true;
    await this.#moving.end();
    clearTimeout(this.#timer);
    clearInterval(this.#beat);
    await this.#looking;
    await Promise.all(this.#tasks);
    await Promise.all(routes.filter(({ shard }) => set.isOpen(shard)).map((route) => this.#close(route)));
    const left = leaveFleet(database, self.id).catch(() => undefined);
    await isSettledWithin(Promise.all([marked, left]), DATABASE_CLOSING_MS);
  }

  /** False while the database is away: nobody can take a shard then. */
  #canGive(): boolean {
    if (this.fleet.ageMs > this.#options.leaseMs) return false;
    return this.#live().some(({ id, isDraining }) => id !== this.#options.self.id && !isDraining);
  }

  async #tellAlive(): Promise<void> {
    const { database, self } = this.#options;
    try {
      if (!(await seeNode(database, self.id, this.#copies())) && !this.#isOver) await enterNode(database, self);
    } catch {
      // The next look tells that the database does not answer.
    }
  }

  #copies(): NodeCopies {
    const { routes, set, leases, controlCopyMs } = this.#options;
    const open = routes.filter(({ shard }) => set.isOpen(shard));
    return {
      controlMs: controlCopyMs?.() ?? null,
      shardsMs: Object.fromEntries(open.map(({ shard }) => [shard, leases.lagMs(shard)])),
    };
  }

  /** A look that comes sooner stays. */
  #lookIn(ms: number): void {
    const atMs = performance.now() + ms;
    if (this.#isOver || this.#nextMs <= atMs) return;
    clearTimeout(this.#timer);
    this.#nextMs = atMs;
    this.#timer = setTimeout(() => {
      this.#nextMs = Number.POSITIVE_INFINITY;
      void this.#look();
    }, ms);
  }

  /** Never rejects. One look at a time. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      const isSoon =
        this.#isWoken ||
        this.#options.routes.some(({ shard, route }) => route.kind === 'held' && !this.#refused.has(shard));
      this.#isWoken = false;
      this.#lookIn(isSoon ? NODE_LOOK_SOON_MS : Math.min(NODE_LOOK_MS, this.#untilLeaseEndMs()));
    });
    return this.#looking;
  }

  /** Until the first lease of another node ends: a shard that is left without an owner waits for no look then. */
  #untilLeaseEndMs(): number {
    const { shards, ageMs } = this.fleet;
    const others = shards.filter(({ owner, leaseMs }) => owner !== this.#options.self.id && leaseMs > ageMs);
    return Math.min(...others.map(({ leaseMs }) => leaseMs - ageMs + NODE_LOOK_SOON_MS));
  }

  async #lookOnce(): Promise<void> {
    try {
      this.#fleet = await readFleet(this.#options.database);
      this.#lookedMs = performance.now();
      this.#works(OWNERS_UNREAD);
    } catch (error) {
      // Leases end by themselves, and others may go on with what they have.
      this.#tell(OWNERS_UNREAD, error);
      return;
    }
    if (this.#isOver) return;
    await this.#tellRefused();
    this.#openAgain();
    const owners = this.#owners();
    const targets = spread(this.#live(), owners);
    this.#setRoutes(owners, targets);
    this.#take(toTake(targets, owners, this.#options.self.id));
    this.#handOver(targets, owners);
  }

  /** Those that were seen within a lease, with this node as it is. */
  #live(): readonly FleetNode[] {
    const { self, leaseMs } = this.#options;
    return this.#fleet.nodes.flatMap((node) => {
      if (node.id === self.id)
        return [{ ...node, refused: this.#ownRefused(), isDraining: node.isDraining || this.#isLeaving }];
      return node.seenMs < leaseMs ? [node] : [];
    });
  }

  /** By shard. A shard that this node holds by the database and has not opened is free. */
  #owners(): Owners {
    const { routes, set, self } = this.#options;
    const rows = new Map(this.#fleet.shards.map((row) => [row.shard, row]));
    return routes.map(({ shard }) => {
      if (set.isOpen(shard)) return self.id;
      const { owner, leaseMs = 0 } = rows.get(shard) ?? {};
      return owner === self.id || leaseMs === 0 ? undefined : owner;
    });
  }

  /** A log that takes nothing any more is closed. It is free then, and this node may take it again. */
  #openAgain(): void {
    const { routes, set, leases } = this.#options;
    for (const route of routes)
      if (set.isOpen(route.shard) && leases.isSpoiled(route.shard) && !this.#busy.has(route.shard))
        this.#run(route, async () => {
          await this.#close(route);
        });
  }

  #setRoutes(owners: Owners, targets: Owners): void {
    const { routes, set, callerAt, self } = this.#options;
    for (const route of routes) {
      const { shard, route: now } = route;
      if (this.#busy.has(shard)) continue;
      const owner = owners[shard];
      const node = this.#fleet.nodes.find(({ id }) => id === owner);
      if (owner === self.id) {
        if (now.kind !== 'here') route.set({ kind: 'here', caller: set.caller(shard) });
      } else if (node !== undefined) {
        // A node that starts again within its lease keeps its shards and may have another address.
        if (now.kind !== 'there' || now.node !== node.id || now.address !== node.address)
          route.set({ kind: 'there', node: node.id, address: node.address, caller: callerAt(node, shard) });
      } else if (this.#moves(shard, targets[shard])) {
        if (now.kind !== 'held') route.set({ kind: 'held' });
      } else
        route.set({ kind: 'nowhere', retryAfterSeconds: this.#takeoverSeconds(), reason: this.#whyRefused(shard) });
    }
  }

  /** True for a shard without an owner that one takes soon: its owner gave it back, or it is this node's to open. */
  #moves(shard: number, target: string | undefined): boolean {
    if (target === undefined || this.#whyRefused(shard, target) !== undefined) return false;
    const { id } = this.#options.self;
    const last = this.#fleet.shards.find((row) => row.shard === shard)?.owner;
    return target === id || last === undefined || last === id;
  }

  /** Why a node, or any live one, could not open the shard. */
  #whyRefused(shard: number, node?: string): string | undefined {
    for (const { id, refused } of this.#live())
      if (node === undefined || id === node) for (const one of refused) if (one.shard === shard) return one.reason;
    return undefined;
  }

  #ownRefused(): readonly RefusedShard[] {
    return [...this.#refused].flatMap(([shard, { reason, isOwn }]) => (isOwn ? [{ shard, reason }] : []));
  }

  /** A failure is repeated with the next look. */
  async #tellRefused(): Promise<void> {
    const nowMs = performance.now();
    for (const [shard, { againMs }] of this.#refused)
      if (nowMs > againMs + NODE_REFUSED_KEPT_MS) this.#refused.delete(shard);
    const refused = this.#ownRefused();
    const text = JSON.stringify(refused);
    if (text === this.#reportedRefused) return;
    try {
      await noteRefused(this.#options.database, this.#options.self.id, refused);
      this.#reportedRefused = text;
      this.#works(REFUSED_UNNOTED);
    } catch (error) {
      this.#tell(REFUSED_UNNOTED, error);
    }
  }

  /** The time until a shard whose owner has ended is served again: its lease, and a look. */
  #takeoverSeconds(): number {
    return Math.ceil((this.#options.leaseMs + NODE_LOOK_MS) / 1_000);
  }

  #take(shards: readonly number[]): void {
    for (const shard of shards) {
      if (this.#isLeaving || this.#busy.size >= SHARDS_TAKEN_MAX) return;
      const route = this.#options.routes[shard]!;
      const { againMs = 0 } = this.#refused.get(shard) ?? {};
      if (!this.#busy.has(shard) && performance.now() >= againMs) this.#run(route, () => this.#open(route));
    }
  }

  async #open(route: RoutedShard): Promise<void> {
    const { set, log } = this.#options;
    const { shard } = route;
    try {
      await this.#moving.fetchOf(shard);
      await set.open(shard);
      this.#refused.delete(shard);
      route.set({ kind: 'here', caller: set.caller(shard) });
      log.info({ shard }, 'this node has taken a shard');
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      const { message } = error;
      const before = this.#refused.get(shard);
      // Another node was faster, or its lease has not ended: the next look tells.
      const isHeld = error.code === 'STO-E002';
      if (!isHeld && before?.reason !== message)
        log.error(
          { shard, reason: message },
          'this node cannot take a shard: another node may, and this one keeps trying',
        );
      const failures = isHeld ? 0 : (before?.failures ?? 0) + 1;
      const waitMs = Math.min(NODE_REFUSED_MS_MAX, NODE_LOOK_MS * 2 ** Math.max(0, failures - 1));
      // The database was read a moment ago, so what fails again and again is not its absence.
      const isOwn = !isHeld && (!error.retryable || failures >= NODE_REFUSED_TRIES);
      this.#refused.set(shard, { reason: message, againMs: performance.now() + waitMs, failures, isOwn });
    }
  }

  /** One at a time, so that most shards serve while the shares change. */
  #handOver(targets: Owners, owners: Owners): void {
    const { self, routes, tellNode, log } = this.#options;
    const shard = nextHandOver(targets, owners, self.id);
    if (shard === undefined || this.#busy.size > 0) return;
    const route = routes[shard]!;
    const next = this.#fleet.nodes.find(({ id }) => id === targets[shard]);
    this.#run(route, async () => {
      if (next !== undefined && !(await this.#moving.prepared(next, shard))) return;
      await this.#close(route);
      if (next !== undefined) tellNode(next);
      log.info({ shard, to: next?.id }, 'this node has handed a shard over');
    });
  }

  /** New calls wait. Those that the engine has are answered first, and those on their way to it are sent again. */
  async #close(route: RoutedShard): Promise<void> {
    const { set, log } = this.#options;
    route.set({ kind: 'held' });
    try {
      await set.closeShard(route.shard);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      log.error({ shard: route.shard, reason: error.message }, 'a shard was not closed cleanly');
    }
  }

  #run({ shard }: RoutedShard, task: () => Promise<void>): void {
    this.#busy.add(shard);
    const running = task().finally(() => {
      this.#busy.delete(shard);
      this.#tasks.delete(running);
      this.wake();
    });
    this.#tasks.add(running);
  }

  #tell(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failures.get(what) === reason) return;
    this.#failures.set(what, reason);
    this.#options.log.error({ reason }, what);
  }

  #works(what: string): void {
    if (this.#failures.delete(what)) this.#options.log.info({ failed: what }, 'the database answers this node again');
  }
}

const OWNERS_UNREAD = 'cannot read the owners of the shards from the database';
const REFUSED_UNNOTED = 'cannot report the shards that this node cannot open';
