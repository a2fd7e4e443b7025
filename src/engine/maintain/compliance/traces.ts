// Traces of a person's grains: read paths that return them, caches that hold data of the person, index rows. A canary
// checks all of them before its erasure, which proves that each check can find something, and again after it.

import { EngineError } from '../../base/errors.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import { DEFAULT_PURPOSE } from '../../govern/consent/consent.ts';
import type { Facet } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';
import type { Door } from './door.ts';

const PAGE_BYTES = 1 << 20;
/** A read-only caller. */
const CAL_SESSION: MemoryCalls['cal']['input']['session'] = {
  tier: 0,
  tierOneEnabled: false,
  mayDefine: false,
  templates: {},
  server: { name: 'canary', version: '0' },
  autoToon: false,
  queryTimeoutMs: 5_000,
  assembleTimeoutMs: 10_000,
};

/** A person with grains and a consent, as canaries have. */
export interface Traced {
  readonly user: string;
  /** The subject of one grain, and a word that all of them contain. */
  readonly subject: string;
  readonly word: string;
  readonly hashes: readonly string[];
  /** The person's key. */
  readonly key: number;
}

/** The read paths by name, each with whether it returns one of the grains. A refusal returns none. */
export async function waysIn(
  door: Door,
  context: CallContext,
  { user, subject, word, hashes }: Traced,
): Promise<Readonly<Record<string, boolean>>> {
  const gone = new Set(hashes);
  const among = (found: Iterable<string>): boolean => [...found].some((hash) => gone.has(hash));
  const read = door.read.bind(door);
  const filter = { userId: user };
  const recall = (query: object) =>
    read('recall', context, { filter: {}, structural: false, limit: 50, candidateLimit: 100, ...query }).hits.map(
      ({ grain }) => grain.hash,
    );
  const page = { after: 0, limitBytes: PAGE_BYTES };
  const ways: Record<string, () => boolean | Promise<boolean>> = {
    get: () => among(hashes.map((hash) => read('get', context, { hash }).hash)),
    raw: () => hashes.some((hash) => read('getRaw', context, { hash }).blob.length > 0),
    fetch: () => read('fetch', context, { hashes }).grains.some((grain) => grain !== null),
    locate: () => read('locate', context, { hashes }).held.some((held) => held),
    list: () => read('list', context, { filter, limit: 10, order: 'asc' }).grains.length > 0,
    search: () => among(recall({ query: word, wordsOnly: true })),
    recall: () => among(recall({ query: word })),
    'recall by user': () => recall({ filter, structural: true }).length > 0,
    history: () => hashes.some((hash) => read('history', context, { hash }).versions.length > 0),
    'graph (by subject)': () => among(recall({ filter: { entity: subject }, structural: true })),
    CAL: () => answers(read('cal', context, calOf(`RECALL beliefs WHERE subject = "${subject}"`))),
    'CAL by words': () =>
      answers(read('cal', context, calOf(`RECALL beliefs LIKE "${word}" WHERE user_id = "${user}"`))),
    'export-file': async () =>
      among((await door.write('exportPage', context, { ...page, filter: {} })).grains.map(({ hash }) => hash)),
    "the person's export": async () =>
      (await door.write('personPage', context, { ...page, userId: user })).grains.length > 0,
  };
  const served: Record<string, boolean> = {};
  for (const [name, serves] of Object.entries(ways)) served[name] = await isGiven(serves);
  return served;
}

function calOf(query: string) {
  return { query, session: CAL_SESSION, vectors: [] };
}

function answers(reply: ReturnType<Door['read']> | object): boolean {
  return 'resultCount' in reply && Number(reply.resultCount) > 0;
}

async function isGiven(serves: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await serves();
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** This process's caches by name, each with whether it holds data of the person. */
export function caches(store: Store, number: number, { user, key }: Traced): Readonly<Record<string, boolean>> {
  const memory = store.memory(number);
  return {
    'keys of users': memory.userKeys.get(user) !== undefined,
    'keys of grains': isHad(() => memory.grainKey(key, 0)),
    'unwrapped keys': isHad(() => store.keys.get(key)),
    consents: memory.governed.consent(user, DEFAULT_PURPOSE) !== undefined,
  };
}

/** Index rows that lead to the person's grains: by user, by subject, by address. */
export function rowsLeadingTo(store: Store, number: number, { user, subject, hashes }: Traced): number {
  const addresses = hashes.filter((hash) => store.findOrdinal(number, hash) !== undefined).length;
  return rows(store, number, 'user', user) + rows(store, number, 'subject', subject) + addresses;
}

function rows(store: Store, number: number, facet: Facet, value: string): number {
  let found = 0;
  for (const part of store.parts(number))
    for (const doc of part.facet(facet, value) ?? []) if (!store.index.removed.get(part.ordinals[doc]!)) found += 1;
  return found;
}

function isHad(take: () => unknown): boolean {
  try {
    take();
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
