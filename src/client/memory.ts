// One memory within a scope. Each call carries the scope; what it names beyond the scope is refused before it is sent.
import { batches, type Turn, turnBatches } from './batches.ts';
import {
  GUARDED,
  type Input,
  type Item,
  type MemoryCalls,
  type Output,
  type PagedInput,
  type PagedOperation,
  type Scope,
  type Without,
} from './calls.ts';
import { ScopeError } from './errors.ts';
import { type CommonField, type GrainType, PAGES, ROUTES, type TypeFields } from './gen/operations.ts';
import type { JsonObject, Sendable } from './json.ts';
import { dated } from './names.ts';
import type { StreamFrame } from './sse.ts';
import { type EventStep, type EventsInput, eventSteps, frames } from './streams.ts';
import { type Bounds, type CallOptions, routeOf, type Transport } from './transport.ts';

/** A grain of any type to add. Its fields have the names that they are stored under; times may be dates. */
export type NewGrain = {
  [T in GrainType]: { readonly type: T } & {
    readonly [F in TypeFields[T] | CommonField]?: Sendable;
  } & { readonly [extra: string]: Sendable };
}[GrainType];

export interface ContextInput {
  /** Budget of the text in tokens; default 4,000, at most 16,000. */
  readonly tokens?: number | undefined;
  readonly format?: 'markdown' | 'text' | 'sml' | 'toon' | 'yaml' | 'json' | 'triples' | undefined;
  /** Grains to choose from; default 50. */
  readonly grains?: number | undefined;
}

export interface BatchResult {
  /** Hashes in the order of the grains; undefined for one that was refused. */
  readonly hashes: readonly (string | undefined)[];
  readonly added: number;
  readonly duplicates: number;
  readonly errors: readonly { readonly index: number; readonly code: string; readonly error: string }[];
  readonly warnings: readonly string[];
}

export interface TurnsResult {
  readonly sessionId: string;
  /** Hashes of the stored turns, in order. */
  readonly hashes: readonly string[];
  readonly errors: readonly { readonly index: number; readonly code: string; readonly error: string }[];
  readonly warnings: readonly string[];
}

type Rest<N extends 'remember' | 'recall', S extends Scope, K extends PropertyKey> = Without<Input<N, S>, K>;

/** Grains to forget. Persons are erased by `forgetUser`. */
export type ForgetInput = Without<Input<'forget'>, 'userId'>;

export class Memory<S extends Scope = Scope> {
  readonly id: string;
  readonly scope: Readonly<S>;
  /** Every operation of a memory, by its name. Those that erase are methods of their own, with a confirmation. */
  readonly operations: MemoryCalls<S>;
  readonly #transport: Transport;
  readonly #bounds: Bounds;

  constructor(transport: Transport, id: string, scope: S) {
    this.id = id;
    const { user, namespace } = scope;
    for (const [name, value] of Object.entries({ id, user, namespace }))
      if (value === '') throw new ScopeError(`\`${name}\` of a memory is empty`, { code: 'CLIENT', status: 0 });
    this.scope = Object.freeze({ ...scope });
    this.#transport = transport;
    this.#bounds = Object.freeze({ memory: id, user, namespace });
    this.operations = operationsOf(
      (name) => /^\S+ (?:M|[a-z_]+ command)/.test(ROUTES[name as keyof typeof ROUTES]),
      (name, input, options) => this.#perform(name, input, options),
    ) as MemoryCalls<S>; // a method for each route of a memory
  }

  /** Stores a text, and what it says as beliefs. */
  remember(text: string, input?: Rest<'remember', S, 'text' | 'content' | 'messages'>, options?: CallOptions) {
    return this.#call('remember', { ...input, text }, options);
  }

  /** Finds grains by words and meaning. */
  recall(query: string, input?: Rest<'recall', S, 'query'>, options?: CallOptions) {
    return this.#call('recall', { ...input, query }, options);
  }

  /** The grains that bear on a question, as text for a prompt, within a budget of tokens. */
  async context(
    query: string,
    { tokens = 4_000, format = 'markdown', grains = 50 }: ContextInput = {},
    options?: CallOptions,
  ): Promise<string> {
    const text = quoted(query);
    const cal = `ASSEMBLE FROM found: (RECALL LIKE ${text} LIMIT ${whole(grains)}) BUDGET ${whole(tokens)} tokens FORMAT ${word(format)}`;
    const { result } = await this.#call('cal', { query: cal }, options);
    return String((result as JsonObject)['content'] ?? ''); // the result of ASSEMBLE
  }

  /** Adds a grain of any type. */
  async add({ type, ...fields }: NewGrain, options?: CallOptions & { readonly purpose?: string | undefined }) {
    const { purpose, ...rest } = options ?? {};
    return this.#call('add', { grainType: type, fields: this.#scoped(fields) as JsonObject, purpose }, rest);
  }

  /** Adds many grains, in batches of the size that the server takes. A grain that is refused stops no other. */
  async addMany(grains: Iterable<NewGrain> | AsyncIterable<NewGrain>, options?: CallOptions): Promise<BatchResult> {
    const result = {
      hashes: [] as (string | undefined)[],
      added: 0,
      duplicates: 0,
      errors: [] as BatchResult['errors'][number][],
      warnings: new Set<string>(),
    };
    const bodies = batches(grains, ({ type, ...fields }) => ({ grain_type: type, fields: this.#scoped(fields) }));
    for await (const batch of bodies) {
      const from = result.hashes.length;
      const answer = await this.#call('batchAdd', { grains: batch }, keyed(options, from));
      result.hashes.push(...batch.map(() => undefined));
      for (const { index, blobHash } of [...answer.added, ...answer.duplicates]) result.hashes[from + index] = blobHash;
      for (const { index, code, error } of answer.errors) result.errors.push({ index: from + index, code, error });
      result.added += answer.totalAdded;
      result.duplicates += answer.totalDuplicates;
      for (const warning of answer.warnings ?? []) result.warnings.add(warning);
    }
    return { ...result, warnings: [...result.warnings] };
  }

  /** Stores the turns of a conversation in their session, in batches of the size that the server takes. */
  async addTurns(
    turns: readonly Turn[],
    input: Rest<'remember', S, 'text' | 'content' | 'messages'> = {} as Rest<
      'remember',
      S,
      'text' | 'content' | 'messages'
    >,
    options?: CallOptions,
  ): Promise<TurnsResult> {
    const { sessionId = `session-${crypto.randomUUID()}` } = input as { readonly sessionId?: string };
    const result = {
      sessionId,
      hashes: [] as string[],
      errors: [] as TurnsResult['errors'][number][],
      warnings: new Set<string>(),
    };
    let from = 0;
    for (const messages of turnBatches(turns)) {
      const answer = await this.#call('remember', { ...input, sessionId, messages }, keyed(options, from));
      result.hashes.push(...(answer.sourceHashes ?? [answer.sourceHash]));
      for (const { index, code, error } of answer.errors ?? [])
        result.errors.push({ index: from + index, code, error });
      for (const warning of answer.warnings) result.warnings.add(warning);
      from += messages.length;
    }
    return { ...result, warnings: [...result.warnings] };
  }

  /** A grain by its hash, in any version. */
  get(hash: string, options?: CallOptions) {
    return this.#call('get', { hash }, options);
  }

  /** Replaces a grain by a version with these fields changed; null drops a field. */
  async supersede(hash: string, fields: Readonly<Record<string, Sendable>>, options?: CallOptions) {
    return this.#call('supersede', { oldHash: hash, fields: dated(fields) as JsonObject }, options);
  }

  /** Forgets grains by hash or subject. */
  async forget(input: ForgetInput, options?: CallOptions): Promise<Output<'forget'>> {
    const { user } = this.scope;
    const named = input as {
      readonly userId?: unknown;
      readonly hash?: unknown;
      readonly hashes?: unknown;
      readonly subject?: unknown;
    };
    if (named.userId !== undefined) throw refusal('a person is erased by `forgetUser`');
    if (named.hash === undefined && named.hashes === undefined && named.subject === undefined)
      throw refusal('`forget` needs a hash, hashes or a subject');
    return this.#call('forget', user === undefined ? input : { ...input, userId: user }, options);
  }

  /** Erases a person: the key of all that is theirs is destroyed. `confirm` repeats the id. */
  async forgetUser(
    id: string,
    { confirm, reason }: { readonly confirm: string; readonly reason?: string | undefined },
    options?: CallOptions,
  ): Promise<Output<'forgetUser'>> {
    if (id === '' || confirm !== id) throw refusal('`confirm` must repeat the id of the person');
    return this.#call('forgetUser', { userId: id, reason }, options);
  }

  /** The items of all pages of a list. */
  async *each<N extends PagedOperation>(
    name: N,
    input?: PagedInput<N, S>,
    options?: CallOptions,
  ): AsyncGenerator<Item<N>, void, undefined> {
    yield* pages(name, input, (page) => this.#perform(name, page, options) as Promise<object>);
  }

  /** The grains of the memory, newest first. */
  list(
    input?: PagedInput<'listGrains', S>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listGrains'>, void, undefined> {
    return this.each('listGrains', input, options);
  }

  /** The versions of a grain, oldest first. */
  history(hash: string, options?: CallOptions): AsyncGenerator<Item<'history'>, void, undefined> {
    return this.each('history', { hash } as PagedInput<'history', S>, options);
  }

  /** The changes of the memory as they happen. Goes on after a lost connection, each event once, until you leave the loop. */
  events(input: EventsInput = {}, options: CallOptions = {}): AsyncGenerator<EventStep, void, undefined> {
    return eventSteps(this.#transport, input, this.#bounds, options);
  }

  #perform(name: string, input: object | undefined, options: CallOptions | undefined): unknown {
    return routeOf(name).answer === 'stream' ? this.#stream(name, input, options) : this.#ask(name, input, options);
  }

  async #ask(name: string, input: object = {}, options?: CallOptions): Promise<unknown> {
    return this.#transport.call(name, this.#within(name, input), this.#bounds, options);
  }

  async *#stream(name: string, input: object = {}, options: CallOptions = {}): AsyncGenerator<StreamFrame, void> {
    yield* frames(await this.#transport.open(name, this.#within(name, input), this.#bounds, options), options.signal);
  }

  // The table pairs each operation with its answer.
  #call<N extends keyof typeof ROUTES>(name: N, input: object, options?: CallOptions): Promise<Output<N>> {
    return this.#perform(name, input, options) as Promise<Output<N>>;
  }

  /** The input with the scope's user and namespace, where the operation names them. Throws for any other. */
  #within(name: string, input: object): object {
    const flags = ROUTES[name as keyof typeof ROUTES].split(' ')[4] ?? '';
    const filled: Record<string, unknown> = { ...input };
    for (const [member, flag, bound] of [
      ['userId', 'u', this.scope.user],
      ['namespace', 'n', this.scope.namespace],
    ] as const) {
      if (bound === undefined) continue;
      const asked = filled[member];
      if (asked !== undefined && asked !== bound) throw refusal(`\`${member}\` is outside the scope of this memory`);
      if (flags.includes(flag)) filled[member] = bound;
    }
    return filled;
  }

  /** The fields of a new grain, which belongs to the user and the namespace of the scope. */
  #scoped(fields: object): Record<string, unknown> {
    const all = dated(fields) as Record<string, unknown>; // an object stays one
    for (const [field, bound] of [
      ['user_id', this.scope.user],
      ['namespace', this.scope.namespace],
    ] as const) {
      if (bound === undefined) continue;
      const asked = all[field];
      if (asked !== undefined && asked !== bound) throw refusal(`\`${field}\` is outside the scope of this memory`);
      all[field] = bound;
    }
    return all;
  }
}

function refusal(message: string): ScopeError {
  return new ScopeError(message, { code: 'CLIENT', status: 0 });
}

/** Each part of a change needs a key of its own. */
function keyed(options: CallOptions | undefined, from: number): CallOptions | undefined {
  const key = options?.idempotencyKey;
  return key === undefined ? options : { ...options, idempotencyKey: `${key}:${from}` };
}

/** A text as a string of CAL, which refuses controls of text direction. */
function quoted(text: string): string {
  const plain = text.replace(/[\u202A-\u202E\u2066-\u2069]/g, '').replace(/[\\"]/g, '\\$&');
  return `"${plain}"`;
}

function whole(value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) throw new RangeError(`${value} is not a whole number above 0`);
  return value;
}

function word(text: string): string {
  if (!/^[a-z]+$/.test(text)) throw new TypeError(`${text} is not the name of a format`);
  return text;
}

const GUARDED_NAMES: ReadonlySet<string> = new Set(GUARDED);

type Perform = (name: string, input: object | undefined, options: CallOptions | undefined) => unknown;

/** A method for each operation that is wanted and not guarded. */
export function operationsOf(isWanted: (name: string) => boolean, perform: Perform): object {
  const names = Object.keys(ROUTES).filter((name) => isWanted(name) && !GUARDED_NAMES.has(name));
  return Object.freeze(
    Object.fromEntries(
      names.map((name) => [name, (input?: object, options?: CallOptions) => perform(name, input, options)]),
    ),
  );
}

/** The items of all pages, asked for one after the other. */
export async function* pages<N extends PagedOperation>(
  name: N,
  input: object | undefined,
  ask: (page: object) => Promise<object>,
): AsyncGenerator<Item<N>, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = (await ask(cursor === undefined ? { ...input } : { ...input, cursor })) as Readonly<
      Record<string, unknown>
    >;
    yield* page[PAGES[name]] as readonly Item<N>[]; // the member that the table names
    const next = page['nextCursor'];
    cursor = typeof next === 'string' && next !== cursor ? next : undefined;
  } while (cursor !== undefined);
}
