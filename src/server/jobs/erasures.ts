// Erasures with their follow-up work. An erasure's intent is stored before the first key is destroyed, and deleted when
// everything is done. After a stop, a crash or a full disk it continues, here or at the next start.
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { ERASURE_RETRY_MS, REDACTION_ROUNDS_AWAITED } from '../../engine/base/limits.ts';
import { isUnknownScope, plainPath, reachBelow, reachOf } from '../../engine/govern/scope-tree.ts';
import type { ErasureProof, JsonValue, Output } from '../../shards/protocol.ts';
import type { Chats } from '../chat/chats.ts';
import { randomId } from '../control/ids.ts';
import { endReplies, eraseKeys } from '../control/keys.ts';
import type { MemoryRecord } from '../control/memories.ts';
import { repliesPrefix, settingsPrefix } from '../control/memories.ts';
import { ERASURE_MARK, KEYS_ENDED } from '../control/records.ts';
import type { ControlStore } from '../control/store.ts';
import type { EventHub } from '../events/hub.ts';
import { isAbout, namesPerson, type Person, withoutName } from '../imports/holds.ts';
import type { ImportJobs } from '../imports/import-jobs.ts';
import type { Logger } from '../log.ts';
import type { MemoryContext, Shards } from '../shards.ts';
import { endNames } from '../subject-requests/requests.ts';

/** The target of an erasure, stored sealed like all of the control log. */
type Target = { readonly userId: string } | ScopeTarget;

type ScopeTarget = {
  readonly scopePath: string;
  /**
   * The namespaces that the path covers with all below them: by the time of a retry the tree may have changed. None
   * when the tree did not have the path; absent in records of older builds.
   */
  readonly tops?: string[];
};

interface Intent {
  readonly name: string;
  readonly memory: number;
  readonly target: Target;
  readonly actor: string;
  readonly reason?: string;
  /** Whether the caller acts for the whole deployment; absent in records of older builds. */
  readonly everywhere?: boolean;
  /** Fingerprint of the user's destroyed keys; once set, only names in others' grains remain. */
  readonly fingerprint?: string;
}

/** The caller's request, with its idempotency key and deadline. */
type Ask<T> = () => Promise<T>;

export class Erasures {
  readonly #control: ControlStore;
  readonly #shards: Pick<Shards, 'call'>;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #repeats: boolean;
  #imports: Pick<ImportJobs, 'hold'> | undefined;
  #events: Pick<EventHub, 'reread'> | undefined;
  #chats: Pick<Chats, 'erased'> | undefined;
  readonly #running = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(parts: {
    readonly control: ControlStore;
    readonly shards: Pick<Shards, 'call'>;
    readonly log: Logger;
    readonly clock: Clock;
    /** True while a restored copy repeats later erasures (`CallContext.repeats`). */
    readonly repeats?: boolean | undefined;
  }) {
    this.#control = parts.control;
    this.#shards = parts.shards;
    this.#log = parts.log;
    this.#clock = parts.clock;
    this.#repeats = parts.repeats === true;
  }

  /**
   * Import jobs about an erased person store nothing meanwhile, and are removed with it. Streams and webhooks send nothing that
   * they read before an erasure, and no chat turn goes on from erased texts.
   */
  attach(imports: Pick<ImportJobs, 'hold'>, events: Pick<EventHub, 'reread'>, chats: Pick<Chats, 'erased'>): void {
    this.#imports = imports;
    this.#events = events;
    this.#chats = chats;
  }

  /** Whether an erasure in the memory is unfinished. */
  isPending(memory: number): boolean {
    return this.#intents().some((intent) => intent.memory === memory);
  }

  /** Number of unfinished erasures. */
  get pending(): number {
    return this.#intents().length;
  }

  /**
   * Continues interrupted erasures: keys first, before anything is served; names in others' grains in the background.
   */
  async start(): Promise<void> {
    const begun: Intent[] = [];
    for (const intent of this.#intents()) {
      try {
        const erased = await this.#withoutKeys(intent);
        await this.#endKeys(erased);
        begun.push(erased);
      } catch (error) {
        this.#log.warn({ err: error, memory: intent.memory }, 'an erasure is not complete yet; it will be retried');
        begun.push(intent);
      }
    }
    for (const intent of begun) this.#runBehind(intent);
  }

  /** Erases a user and resolves to the proof. Names in other people's grains are redacted by then, or shortly after. */
  async user(memory: MemoryRecord, userId: string, by: By, ask: Ask<ErasureProof>): Promise<ErasureProof> {
    const release = await this.#imports?.hold(this.#whoseOf(memory.number, { userId }));
    try {
      return await this.#user(memory, userId, by, ask);
    } finally {
      this.#events?.reread(memory.number);
      release?.();
    }
  }

  async #user(memory: MemoryRecord, userId: string, by: By, ask: Ask<ErasureProof>): Promise<ErasureProof> {
    const intent = await this.#intend(memory, { userId }, by);
    const proof = await this.#first(intent, ask);
    const { keyFingerprint } = proof;
    await this.#follow({ ...intent, fingerprint: keyFingerprint }, keyFingerprint !== '', async () => {
      await this.#endKeys(intent);
      if (keyFingerprint === '') return this.#finish(intent);
      const erased = { ...intent, fingerprint: keyFingerprint };
      const isDone = await this.#redact(erased, REDACTION_ROUNDS_AWAITED).catch(() => false);
      if (isDone) await this.#finish(intent);
      else this.#runBehind(await this.#erased(intent, keyFingerprint));
    });
    return proof;
  }

  /** Erases a scope. */
  async scope(memory: MemoryRecord, scopePath: string, by: By, ask: Ask<Proofs>): Promise<Proofs> {
    const target = { scopePath, tops: this.#topsOf(memory.number, scopePath) };
    const release = await this.#imports?.hold(this.#whoseOf(memory.number, target));
    try {
      const intent = await this.#intend(memory, target, by);
      const erased = await this.#first(intent, ask);
      const isErased = erased.proofs.some(({ keyFingerprint }) => keyFingerprint !== '');
      await this.#follow({ ...intent, fingerprint: '' }, isErased, async () => {
        await this.#endKeys(intent);
        await this.#finish(intent);
      });
      return erased;
    } finally {
      this.#events?.reread(memory.number);
      release?.();
    }
  }

  /** Resolves when no follow-up work runs. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Stops running work at its next step. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }

  #intents(): Intent[] {
    const intents: Intent[] = [];
    for (const { name, value } of this.#control.values('setting'))
      if (name.includes(ERASURE_MARK)) intents.push(value as unknown as Intent); // written by #intend
    return intents;
  }

  async #intend({ number }: MemoryRecord, target: Target, { actor, reason, everywhere = false }: By): Promise<Intent> {
    const name = `${settingsPrefix(number)}${ERASURE_MARK.slice(1)}${randomId('ers')}`;
    const intent: Intent = defined({
      name,
      memory: number,
      target,
      actor,
      everywhere,
      reason,
    });
    await this.#note(intent);
    return intent;
  }

  async #note(intent: Intent): Promise<void> {
    await this.#control.commit((change) => change.put('setting', { name: intent.name, value: { ...intent } }));
  }

  /** Nothing is left to continue. */
  async #drop({ name }: Intent): Promise<void> {
    await this.#control.commit((change) => change.remove('setting', name));
  }

  /**
   * Everything is done. Stored answers about the memory that name the user, or any grain by its hash, are deleted too: nobody
   * can tell whose grain it was.
   */
  async #finish({ name, memory, target }: Intent): Promise<void> {
    await this.#control.commit((change) => {
      change.remove('setting', name);
      for (const { id, value } of [...this.#control.values('reply')])
        if (id.startsWith(repliesPrefix(memory)) && tells(value, target)) change.remove('reply', id);
    });
  }

  /**
   * Runs the caller's request. An error of the contract removes the intent; after any other error the erasure may have
   * begun.
   */
  async #first<T>(intent: Intent, ask: Ask<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof EngineError && !/^(STO|SYS|LIM)-/.test(error.code)) await this.#drop(intent);
      else this.#runBehind(intent);
      throw error;
    }
  }

  /**
   * Runs the steps after the destruction of the keys. They go on after an error, which says that the data are erased: the caller must not
   * think that nothing happened.
   */
  async #follow(erased: Intent, isErased: boolean, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#runBehind(erased);
      throw isErased ? erasedAlready(error) : error;
    }
  }

  /** Continues until it is done, or the server stops. */
  #runBehind(intent: Intent): void {
    const run = this.#persist(intent).catch((error) => {
      this.#log.error({ err: error, memory: intent.memory }, 'an erasure is postponed to the next start');
    });
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #persist(from: Intent): Promise<void> {
    const { signal } = this.#ending;
    let intent = from;
    while (!signal.aborted) {
      try {
        intent = await this.#erasedQuietly(intent);
        const isDone = await this.#redact(intent, Number.POSITIVE_INFINITY);
        this.#events?.reread(intent.memory);
        if (isDone) return await this.#finish(intent);
      } catch (error) {
        if (error instanceof EngineError && error.code === 'MEM-E003') return await this.#drop(intent);
        if (isUnknownScope(error)) {
          const { memory } = intent;
          this.#log.error({ memory }, 'an erasure ended without removing anything: the scope tree never had its path');
          return await this.#drop(intent);
        }
        if (!(error instanceof EngineError)) throw error;
        this.#log.warn({ code: error.code, memory: intent.memory }, 'an erasure is not complete yet');
      }
      await delay(ERASURE_RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /**
   * Removes import jobs about the person or the scope, takes the person out of the file names of others, and revokes and blanks the API keys bound to the person; those
   * already done are skipped. Other nodes drop what they keep of questions before this resolves.
   */
  async #endKeys({ memory: number, target, actor, everywhere = false }: Intent): Promise<void> {
    this.#chats?.erased(this.#whoseOf(number, target));
    await this.#control.commit((change) => {
      change.put('setting', { name: KEYS_ENDED, value: this.#clock.nowMs() });
      const whose = this.#whoseOf(number, target);
      for (const job of [...this.#control.values('importJob')])
        if (isAbout(job, whose)) {
          change.remove('importJob', job.id);
          if (this.#control.get('importFile', job.id) !== undefined) change.remove('importFile', job.id);
        }
      if (!('userId' in target)) return;
      const { userId } = target;
      endNames(change, this.#control.values('subjectRequest'), { memory: number, userId });
      for (const job of [...this.#control.values('importJob')])
        if (job.memory === number && namesPerson(job.fileName, userId))
          change.renew('importJob', { ...job, fileName: withoutName(job.fileName) });
      const memory = this.#recordOf(number);
      if (memory === undefined) return;
      const by = { actor, nowMs: this.#clock.nowMs() };
      // A restored copy learns in another way which deployment-wide keys have ended.
      const person = { userId, memoryId: memory.id, everywhere: everywhere && !this.#repeats };
      endReplies(change, this.#control.values('reply'), eraseKeys(change, this.#control.values('key'), person, by));
    });
  }

  #recordOf(number: number): MemoryRecord | undefined {
    return [...this.#control.values('memory')].find((one) => one.number === number);
  }

  /** The import jobs that an erasure concerns. A path that the memory's tree lacks covers none: the shards refuse it. */
  #whoseOf(memory: number, target: Target): Person {
    if ('userId' in target) return { memory, userId: target.userId };
    const { scopePath, tops = this.#topsOf(memory, scopePath) } = target;
    return tops.length === 0 ? { memory } : { memory, isWithin: reachBelow(scopePath, tops).isWithin };
  }

  /** The namespaces that the path covers now; none when the memory's tree lacks it. */
  #topsOf(memory: number, scopePath: string): string[] {
    try {
      return [...reachOf(this.#recordOf(memory)?.scopes?.root, scopePath).tops];
    } catch (error) {
      if (isUnknownScope(error)) return [];
      throw error;
    }
  }

  /** The keys, and the import jobs, which store nothing meanwhile. */
  async #erasedQuietly(intent: Intent): Promise<Intent> {
    const release = await this.#imports?.hold(this.#whoseOf(intent.memory, intent.target));
    try {
      const erased = await this.#withoutKeys(intent);
      await this.#endKeys(erased);
      return erased;
    } finally {
      release?.();
    }
  }

  /** Destroys the keys, unless that is done. */
  async #withoutKeys(intent: Intent): Promise<Intent> {
    return intent.fingerprint === undefined ? this.#erased(intent, await this.#erase(intent)) : intent;
  }

  /**
   * Records that the keys are gone, so that they are not destroyed again: by the next start the user may write under a
   * new one. If the record fails, it holds for this run.
   */
  async #erased(intent: Intent, fingerprint: string): Promise<Intent> {
    const erased: Intent = { ...intent, fingerprint };
    try {
      await this.#note(erased);
    } catch (error) {
      this.#log.warn({ err: error, memory: intent.memory }, 'cannot record that the keys of an erasure are destroyed');
    }
    return erased;
  }

  /**
   * Asks every partition again; partitions that are done repeat their answer. Resolves to the key's fingerprint, empty
   * for none.
   */
  async #erase({ memory, target, actor, reason }: Intent): Promise<string> {
    const context = { ...contextOf(memory, actor, reason), repeats: this.#repeats || undefined };
    if ('userId' in target)
      return (await this.#shards.call('eraseUser', context, { userId: target.userId })).keyFingerprint;
    await this.#eraseScope(context, target);
    return '';
  }

  async #eraseScope(context: MemoryContext, { scopePath: path, tops }: ScopeTarget): Promise<void> {
    try {
      const input = tops === undefined || tops.length === 0 ? { path } : { path, tops };
      await this.#shards.call('eraseScope', context, input);
    } catch (error) {
      if (!isUnknownScope(error) || tops !== undefined || plainPath(path) === '') throw error;
      const { memory } = context;
      this.#log.warn(
        { memory },
        'the scope tree no longer has the scope of an erasure: what lies at its path is erased',
      );
      await this.#shards.call('eraseScope', context, { path, tops: [plainPath(path)] });
    }
  }

  /** True when nothing is left to redact; false after a number of rounds, or when the server stops. */
  async #redact({ memory, target, actor, reason, fingerprint = '' }: Intent, rounds: number): Promise<boolean> {
    if (!('userId' in target) || fingerprint === '') return true;
    for (let round = 0; round < rounds && !this.#ending.signal.aborted; round++) {
      const input = { userId: target.userId, keyFingerprint: fingerprint };
      if (!(await this.#shards.call('redactUser', contextOf(memory, actor, reason), input)).more) return true;
    }
    return false;
  }
}

/** An error of a step after the destruction of the keys. A repeated call answers with the proof of the first one. */
export function erasedAlready(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const { code, message, details, retryable, retryAfterSeconds } = error;
  const reason = message.replace(`${code}: `, '');
  const text = `the data are erased, for good, but the proof could not be given: repeat the request to get it. ${reason}`;
  return new EngineError(code, text, { details, retryable, retryAfterSeconds });
}

interface By {
  readonly actor: string;
  /** True for a caller who acts for the whole deployment rather than one memory. */
  readonly everywhere?: boolean | undefined;
  readonly reason?: string | undefined;
}
type Proofs = Output<'eraseScope'>;

const HASH = /^[0-9a-f]{64}$/;

/** True when a string in the value is the hash of a grain, or has the words of the person's id. */
function tells(value: JsonValue, target: Target): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some((member) => tells(member, target));
  if (typeof value !== 'string') return false;
  if (HASH.test(value)) return true;
  return 'userId' in target && (value === target.userId || namesPerson(value, target.userId));
}

function contextOf(memory: number, actor: string, reason: string | undefined): MemoryContext {
  // Erasing asks for scope admin.
  return { memory, actor, requestId: 'erasure', owns: true, reason };
}
