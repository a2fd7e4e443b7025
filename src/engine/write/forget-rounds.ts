// Forgets the grains of a subject that has many, in several groups, so that other requests of the shard have their turn.
// Every grain is checked before the first one is removed. If the process ends in between, the rest is left; the caller got no
// answer then, and repeats the request.
import { FORGET_ROUND_GRAINS } from '../base/limits.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Store } from '../store/store.ts';
import { type ForgetTargets, forgetTargets, ordinalsOfSubject, planForget, type Wanted } from './forget.ts';
import type { WritePlan } from './job.ts';
import { known } from './plans.ts';
import { type Found, planPreviewOf } from './preview-removal.ts';
import type { WriteQueue } from './queue.ts';

type Input = MemoryCalls['forget']['input'];
type Output = MemoryCalls['forget']['output'];

type Preview = MemoryCalls['previewRemoval'];

/** Runs one request at a time: it holds a list of its grains, and has as many of them as the subject. */
export class ForgetRounds {
  readonly #store: Store;
  readonly #queue: WriteQueue;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ store, queue }: { readonly store: Store; readonly queue: WriteQueue }) {
    this.#store = store;
    this.#queue = queue;
  }

  /** True for a subject with more grains than one group should forget. */
  isNeededFor(context: CallContext, wanted: Wanted): boolean {
    return this.#ordinalsOf(context, wanted).length > FORGET_ROUND_GRAINS;
  }

  forget(context: CallContext, input: Input): Promise<Output> {
    return this.#inTurn(async () => {
      // Taken first: what is written from here on stays.
      const concerned = this.#ordinalsOf(context, input);
      const before = await this.#queue.push('forget', answeredBefore, context, input);
      if (before !== undefined) return before;
      const { idempotency: _, ...unkeyed } = context;
      const { ordinals, hashes: found, notFound } = await this.#find('forget', unkeyed, input, concerned);
      if (input.check) return { hashes: found, notFound };
      // From here on the caller's deadline must not leave a part of the grains.
      const { deadlineMs: __, ...unhurried } = unkeyed;
      const hashes: string[] = [];
      for (const some of roundsOf(ordinals)) {
        const wanted = { ...input, hashes: undefined, ordinals: some };
        const removed = await this.#queue.push('forget', removeRound, unhurried, wanted);
        for (const hash of removed.hashes) hashes.push(hash);
      }
      return this.#queue.push('forget', storeAnswer, { ...context, deadlineMs: undefined }, { hashes, notFound });
    });
  }

  preview(context: CallContext, input: Wanted): Promise<Preview['output']> {
    return this.#inTurn(async () => {
      const found = await this.#find('previewRemoval', context, input, this.#ordinalsOf(context, input));
      return this.#queue.push('previewRemoval', previewFound, context, found);
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #ordinalsOf({ memory }: CallContext, { subject }: Wanted): readonly Ordinal[] {
    if (subject === undefined || !this.#store.holds(memory)) return [];
    return ordinalsOfSubject(this.#store, this.#store.memory(memory), subject);
  }

  async #find(
    method: string,
    context: CallContext,
    { hashes, subject, userId }: Wanted,
    concerned: readonly Ordinal[],
  ): Promise<Found> {
    const found = new Map<Ordinal, string>();
    let notFound: readonly string[] | undefined;
    for (const ordinals of roundsOf(concerned)) {
      // The hashes are at most as many as a batch has, and are looked for with the first grains of the subject.
      const wanted = { hashes: notFound === undefined ? hashes : undefined, subject, userId, ordinals };
      const { targets, notFound: missing } = await this.#queue.push(method, findRound, context, wanted);
      for (const { ordinal, address } of targets) found.set(ordinal, address);
      notFound ??= missing;
      // A round that changes nothing is answered without a turn of the loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { ordinals: [...found.keys()], hashes: [...found.values()], notFound: notFound ?? [] };
  }
}

/** At least one round, which may be empty. */
function* roundsOf(ordinals: readonly Ordinal[]): Generator<readonly Ordinal[]> {
  let at = 0;
  do {
    yield ordinals.slice(at, at + FORGET_ROUND_GRAINS);
    at += FORGET_ROUND_GRAINS;
  } while (at < ordinals.length);
}

/** The stored answer to an earlier request with this idempotency key. */
const answeredBefore: WritePlan<Input, Output | undefined> = {
  reply: { isKept: () => false },
  plan: () => undefined,
};

const findRound: WritePlan<Wanted, ForgetTargets> = {
  settled: true,
  plan: (group, memory, context, wanted) => forgetTargets(group, known(memory), context, wanted),
};

const removeRound: WritePlan<Wanted, Output> = {
  settled: true,
  plan: (group, memory, context, wanted) => planForget(group, known(memory), context, { ...wanted, check: false }),
};

/** Stores the answer under the call's idempotency key. */
const storeAnswer: WritePlan<Output, Output> = { plan: (_group, _memory, _context, output) => output };

const previewFound: WritePlan<Found, Preview['output']> = {
  settled: true,
  plan: (group, memory, context, found) => planPreviewOf(group, known(memory), context, found),
};
