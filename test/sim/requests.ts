// Requests of callers: few names and words, so that grains often become duplicates, rivals and versions of one another.
import type { GrainFilter } from '../../src/engine/calls/grain.ts';
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import type { AddItem, JsonObject } from '../../src/shards/protocol.ts';
import { isCurrent } from '../model/grain.ts';
import type { ModelMemory } from '../model/memory.ts';
import type { WriteRequest } from '../model/request.ts';
import type { Random } from '../support/random.ts';

/** Restrictions of a world, so that its checks know the exact result. */
export interface Manners {
  readonly nowMs: number;
  /** Without sessions, rival grains are in one partition. */
  readonly sessions: boolean;
}

const SUBJECTS = ['Ada', 'Bob', 'Zoë', 'Zoe\u0308', ' Ada ', 'constructor'];
const RELATIONS = ['likes', 'lives_in', 'counts'];
const OBJECTS = ['London', 'Londen', 'London city', 'Paris', ' Paris', 'analytical engines', 'tea', 'toString'];
const USERS = ['u1', 'u2', 'u3', 'ü4'];
const SESSIONS = ['s1', 's2', 's3'];
const NAMESPACES = ['default', 'n1', 's1'];
const TAGS = ['t1', 't2', 't3', 'London'];
const WORDS =
  'engine engines tea London Paris the of running runs ran apple apples x yellow river constructor café 東京都 hello'.split(
    ' ',
  );
const ACTORS = ['key:a', 'key:b'];
export const MISSING = 'f'.repeat(64);

export function contextOf(random: Random, memory: ModelMemory): RouterContext {
  const { number } = memory.settings;
  const reason = random.maybe(0.15, () => random.pick(['', 'cleanup', 'asked for']));
  return {
    memory: number,
    actor: random.pick(ACTORS),
    requestId: 'req_sim',
    ...(random.chance(0.08) ? { namespace: random.pick(NAMESPACES) } : {}),
    ...(random.chance(0.08) ? { userId: random.pick(USERS) } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
}

function sentence(random: Random): string {
  return Array.from({ length: random.between(1, random.chance(0.1) ? 60 : 8) }, () => random.pick(WORDS)).join(' ');
}

function common(random: Random, { nowMs, sessions }: Manners): JsonObject {
  const nowSeconds = Math.floor(nowMs / 1000);
  const fields: JsonObject = {};
  const maybe = (probability: number, name: string, make: () => JsonObject[string]): void => {
    if (random.chance(probability)) fields[name] = make();
  };
  maybe(0.5, 'user_id', () => random.pick(USERS));
  if (sessions) maybe(0.3, 'session_id', () => random.pick(SESSIONS));
  maybe(0.25, 'namespace', () => random.pick(NAMESPACES));
  maybe(0.3, 'tags', () => [random.pick(TAGS), ...(random.chance(0.3) ? [random.pick(TAGS)] : [])]);
  maybe(0.3, 'created_at', () => nowSeconds - random.pick([0, 1, 1, 60, 3_600, 100_000]));
  maybe(0.1, 'confidence', () => random.pick([0, 0.25, 0.5, 1]));
  maybe(0.1, 'importance', () => random.pick([0, 0.5, 1]));
  maybe(0.1, 'valid_from', () => nowSeconds - random.pick([10, 1_000]));
  maybe(0.1, 'visits', () => random.int(5));
  maybe(0.05, 'verification_status', () => random.pick(['verified', 'contested', 'retracted', 'unverified']));
  maybe(0.05, 'derived_from', () => 'a'.repeat(64));
  maybe(0.03, 'invalidation_policy', () => ({ mode: random.pick(['locked', 'soft_locked', 'open']) }));
  maybe(0.05, 'note', () => random.pick(['x', 'y']));
  return fields;
}

/** Events are turns of conversations: they ask and answer, state times, and have speakers. */
function turn(random: Random, { sessions }: Manners): JsonObject {
  const [role, speaker] = [random.pick(['user', 'assistant', 'narrator']), random.pick(['Ada', 'bob', 'ADA'])];
  const start = random.pick(['', '', '', 'Ada: ', 'my ', 'a: b: ']);
  const end = random.pick(['', '', '?', ' yesterday', ' in 2024 ?']);
  return {
    content: `${start}${sentence(random)}${end}`,
    ...(random.chance(0.5) ? { role } : {}),
    ...(random.chance(0.3) ? { speaker } : {}),
    ...(sessions && random.chance(0.5) ? { session_id: random.pick(SESSIONS) } : {}),
  };
}

export function itemOf(random: Random, manners: Manners): AddItem {
  const fields = common(random, manners);
  const kind = random.weighted([
    [6, 'belief'],
    [3, 'event'],
    [1, 'state'],
    [1, 'observation'],
    [1, 'action'],
    [1, 'goal'],
    [1, 'bad'],
  ]);
  switch (kind) {
    case 'belief':
      Object.assign(fields, {
        subject: random.pick(SUBJECTS),
        relation: random.pick(RELATIONS),
        object: random.pick(OBJECTS),
      });
      if (random.chance(0.05)) fields['expires_at'] = Math.floor(manners.nowMs / 1000) + random.pick([-5, 30, 4_000]);
      break;
    case 'event':
      Object.assign(fields, turn(random, manners));
      if (random.chance(0.2)) fields['subject'] = random.pick(SUBJECTS);
      if (random.chance(0.2)) fields['expires_at'] = Math.floor(manners.nowMs / 1000) + random.pick([-5, 30, 4_000]);
      break;
    case 'state':
      fields['data'] = { mood: random.pick(['calm', 'busy']), step: random.int(3) };
      break;
    case 'observation':
      Object.assign(fields, { content: sentence(random), observer_id: random.pick(['o1', 'o2']) });
      break;
    case 'action':
      Object.assign(fields, { tool_name: random.pick(['grep', 'ls']), content: sentence(random) });
      if (random.chance(0.5)) fields['tool_call_id'] = random.pick(['c1', 'c2']);
      break;
    case 'goal':
      Object.assign(fields, { description: sentence(random), priority: random.pick(['high', 'low']) });
      break;
    case 'bad':
      return badItem(random, fields, manners);
  }
  // With a status, a grain of nobody may lie in another partition than its duplicate (decision 208).
  if (!manners.sessions && kind !== 'belief' && fields['user_id'] === undefined) delete fields['verification_status'];
  return { grainType: kind, fields };
}

function badItem(random: Random, fields: JsonObject, { nowMs }: Manners): AddItem {
  const belief = { ...fields, subject: 'Ada', relation: 'likes', object: 'tea' };
  return random.pick<AddItem>([
    { grainType: 'nonsense', fields },
    { grainType: 'belief', fields: { ...fields, subject: 'Ada' } },
    { grainType: 'belief', fields: { ...belief, confidence: 7 } },
    { grainType: 'belief', fields: { ...belief, created_at: Math.floor(nowMs / 1000) + 400 } },
    { grainType: 'event', fields: { ...fields, content: 5 } },
  ]);
}

/** The address of a random grain of the memory: mostly a live one, of any version. */
export function someHash(random: Random, memory: ModelMemory): string {
  const { grains } = memory;
  if (grains.length === 0 || random.chance(0.04)) return MISSING;
  const live = random.chance(0.9) ? memory.live : grains;
  return live.length === 0 ? MISSING : random.pick(live).hash;
}

function currentHash(random: Random, memory: ModelMemory): string {
  const current = memory.grains.filter(isCurrent);
  return current.length === 0 || random.chance(0.15) ? someHash(random, memory) : random.pick(current).hash;
}

export function addRequest(random: Random, memory: ModelMemory, manners: Manners): WriteRequest {
  const context = contextOf(random, memory);
  return { method: 'add', context, input: { ...itemOf(random, manners), sync: false } };
}

export function batchRequest(random: Random, memory: ModelMemory, manners: Manners): WriteRequest {
  const items = Array.from({ length: random.between(1, 12) }, () => itemOf(random, manners));
  if (items.length > 2 && random.chance(0.5)) items.push(items[0]!);
  return { method: 'addBatch', context: contextOf(random, memory), input: { items } };
}

function changedFields(random: Random, manners: Manners): JsonObject {
  const fields: JsonObject = {};
  const all = common(random, manners);
  for (const name of ['tags', 'importance', 'created_at', 'valid_from', 'verification_status', 'invalidation_policy'])
    if (all[name] !== undefined) fields[name] = all[name];
  if (random.chance(0.15)) fields['user_id'] = random.pick([...USERS, null]);
  if (random.chance(0.1)) fields['namespace'] = random.pick(NAMESPACES);
  if (random.chance(0.6)) fields['object'] = random.pick(OBJECTS);
  if (random.chance(0.1)) fields['subject'] = random.pick(SUBJECTS);
  if (random.chance(0.1)) fields['derived_from'] = 'b'.repeat(64);
  fields['note'] = random.pick(['x', 'y', 'z']);
  // A version stays in the partition of its chain: with another user or subject its rivals are in another one.
  if (!manners.sessions) for (const name of ['user_id', 'namespace', 'subject']) delete fields[name];
  return fields;
}

export function supersedeRequest(random: Random, memory: ModelMemory, manners: Manners): WriteRequest {
  const input = {
    oldHash: currentHash(random, memory),
    fields: changedFields(random, manners),
    ...(random.chance(0.1) ? { grainType: random.pick(['belief', 'event']) } : {}),
  };
  return { method: 'supersede', context: contextOf(random, memory), input };
}

export function accumulateRequest(random: Random, memory: ModelMemory): WriteRequest {
  const target = random.chance(0.5)
    ? { hash: someHash(random, memory) }
    : {
        subject: random.pick(SUBJECTS),
        relation: random.pick(RELATIONS),
        ...(random.chance(0.3) ? { namespace: random.pick(NAMESPACES) } : {}),
      };
  const deltas: Record<string, number> = { visits: random.between(-2, 3) };
  if (random.chance(0.1)) deltas['confidence'] = -0.25;
  const set: JsonObject = random.chance(0.3) ? { note: random.pick(['x', 'y']) } : {};
  return { method: 'accumulate', context: contextOf(random, memory), input: { target, deltas, set } };
}

export function forgetRequest(random: Random, memory: ModelMemory): WriteRequest {
  const context = contextOf(random, memory);
  const check = random.chance(0.15);
  const userId = random.maybe(0.3, () => random.pick(USERS));
  const by = random.weighted([
    [5, { hashes: [someHash(random, memory)] }],
    [3, { hashes: Array.from({ length: random.between(0, 5) }, () => someHash(random, memory)) }],
    [2, { subject: random.pick(SUBJECTS) }],
    [1, { subject: random.pick(SUBJECTS), hashes: [someHash(random, memory)] }],
  ]);
  return {
    method: 'forget',
    context,
    input: { ...by, check, ...(userId === undefined ? {} : { userId }) },
  };
}

export function eraseRequest(random: Random, memory: ModelMemory): WriteRequest {
  const { namespace: _, userId: __, ...context } = contextOf(random, memory);
  return { method: 'eraseUser', context, input: { userId: random.pick([...USERS, 'nobody']) } };
}

export function filterOf(random: Random, memory: ModelMemory, nowMs: number): GrainFilter {
  const filter: { -readonly [K in keyof GrainFilter]: GrainFilter[K] } = {};
  if (random.chance(0.4)) filter.includeSuperseded = random.chance(0.8);
  const conditions = random.weighted([
    [3, 0],
    [3, 1],
    [1, 2],
    [1, 3],
  ]);
  for (let i = 0; i < conditions; i++) {
    const condition: (() => void)[] = [
      () => (filter.grainTypes = random.pick([['belief'], ['event', 'belief'], ['goal'], []])),
      () => (filter.namespace = random.pick(NAMESPACES)),
      () => (filter.userId = random.pick([...USERS, 'nobody'])),
      () => (filter.sessionId = random.pick([...SESSIONS, 'default'])),
      () => (filter.subject = random.pick(SUBJECTS)),
      () => (filter.relation = random.pick([...RELATIONS, 'event'])),
      () => (filter.object = random.pick(OBJECTS)),
      () => (filter.entity = random.pick([...SUBJECTS, ...OBJECTS])),
      () => (filter.tags = random.pick([['t1'], ['t1', 't2'], []])),
      () => (filter.excludeTags = [random.pick(TAGS)]),
      () => (filter.createdFromMs = nowMs - random.pick([0, 2_000, 100_000_000])),
      () => (filter.createdToMs = random.chance(0.5) ? (memory.live[0]?.createdAtMs ?? nowMs) : nowMs - 1_500),
      () => (filter.validFromMs = nowMs - random.pick([0, 100_000])),
      () => (filter.validToMs = nowMs),
      () => (filter.confidenceMin = random.pick([0, 0.5, 1])),
      () => (filter.importanceMin = random.pick([0, 0.5])),
    ];
    random.pick(condition)();
  }
  return filter;
}

export function recallOf(random: Random, memory: ModelMemory, nowMs: number): RecallQuery {
  const filter = filterOf(random, memory, nowMs);
  const { subject, relation, object, entity } = filter;
  const word = (): string => random.pick(WORDS);
  const query = random.maybe(0.7, () =>
    random
      .pick([
        () => word(),
        () => sentence(random),
        () => `${word()} unheardof ${word()}`,
        () => `"${word()} ${word()}" ${word()}`,
        () => `+${word()} ${word()}`,
        () => `${word()} -${word()}`,
        () => `${word()} subject:Ada`,
        () => `${word()} -tag:t1 tag:London`,
        () => 'the of',
        () => `when did Ada ${word()}?`,
        () => `my ${word()} ${word()} ada`,
        () => `London in ${random.pick(OBJECTS)}`,
      ])
      .call(undefined),
  );
  return {
    ...(query === undefined ? {} : { query }),
    ...(random.chance(0.5) ? { operators: true } : {}),
    filter,
    limit: random.pick([1, 3, 20, 500]),
    candidateLimit: 2_500,
    structural: [subject, relation, object, entity].some((condition) => condition !== undefined),
  };
}
