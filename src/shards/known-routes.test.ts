import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { Fan } from './gather/fan.ts';
import { partitionFor } from './gather/placement.ts';
import { factsOf, routesOf } from './known-routes.ts';
import type { AddItem, Input, KnownFact, ShardCaller } from './protocol.ts';

const SOURCE = 'a'.repeat(64);
const UNKNOWN: KnownFact = { answered: false, known: false, fromTexts: [] };
const FROM = { name: `00${'b'.repeat(64)}`, namespace: 'default', textHash: 'told' };
const item = (session_id: string): AddItem => ({
  grainType: 'belief',
  fields: { subject: 'ada', relation: 'lives_in', object: 'Paris', session_id, derived_from: SOURCE },
  event: 'memory.extracted',
});
const context = { memory: 1, actor: 'key:k', requestId: 'r' };

/** Partitions that know this about every item; undefined for one that does not answer. The first holds the source. */
function fanOf(known: readonly (KnownFact | undefined)[]): Fan {
  const shards = known.map(
    (fact, partition): ShardCaller => ({
      async call(_method, _context, input) {
        if (fact === undefined) throw new EngineError('STO-E001');
        const { items, sources } = input as Input<'knownFacts'>;
        const answer = { facts: items.map(() => fact), sources: sources.map(() => (partition === 0 ? FROM : null)) };
        return answer as never; // the output of the only method called
      },
    }),
  );
  return new Fan(context, shards);
}

const routed = async (known: readonly (KnownFact | undefined)[], session = 's') => {
  const [route] = await routesOf(fanOf(known), [item(session)]);
  assert.ok(route !== undefined);
  assert.equal(route.own, partitionFor(item(session), known.length));
  assert.equal(route.item.knownOnly, route.partition === route.own ? undefined : true);
  return route;
};

test('a belief goes to the partition that has answered it, else to its own, else to one that knows it', async () => {
  const known = { ...UNKNOWN, known: true };
  const own = partitionFor(item('s'), 3);
  const [other, another] = [0, 1, 2].filter((partition) => partition !== own) as [number, number];
  const of = (facts: Record<number, KnownFact | undefined>) =>
    [0, 1, 2].map((at) => (at in facts ? facts[at] : UNKNOWN));
  assert.equal((await routed(of({}))).partition, own);
  assert.equal((await routed(of({ [other]: known }))).partition, other);
  assert.equal((await routed(of({ [other]: known, [another]: known }))).partition, other);
  assert.equal((await routed(of({ [own]: known, [other]: known }))).partition, own);
  assert.equal((await routed(of({ [own]: known, [another]: { ...UNKNOWN, answered: true } }))).partition, another);
});

test('a replaced fact stays known to the text that it came from', async () => {
  const own = partitionFor(item('s'), 2);
  const facts = (text: string) => [0, 1].map((at) => (at === own ? UNKNOWN : { ...UNKNOWN, fromTexts: [text] }));
  assert.equal((await routed(facts('told'))).partition, 1 - own);
  assert.equal((await routed(facts('another'))).partition, own);
});

test('a partition that does not answer knows nothing', async () => {
  const own = partitionFor(item('s'), 2);
  const known = { ...UNKNOWN, known: true };
  assert.equal((await routed([0, 1].map((at) => (at === own ? UNKNOWN : undefined)))).partition, own);
  assert.equal((await routed([0, 1].map((at) => (at === own ? undefined : known)))).partition, 1 - own);
});

test('a source carries the name that its partition has in that of the belief, if it differs', async () => {
  const known = { ...UNKNOWN, known: true };
  const [here, there] = [await routed([known, UNKNOWN]), await routed([UNKNOWN, known])];
  assert.equal(here.item.source?.name, here.partition === 0 ? undefined : `0400${'b'.repeat(64)}`);
  assert.equal(there.item.source?.name, there.partition === 0 ? undefined : `0400${'b'.repeat(64)}`);
  assert.equal(new Set([here.partition, there.partition]).size, 2);
});

test('facts of one subject and relation are one thing per person and namespace', () => {
  const of = (fields: object, bound = {}) =>
    factsOf(new Fan({ ...context, ...bound }, []), [{ ...item('s'), fields: { ...item('s').fields, ...fields } }])[0];
  assert.equal(of({ session_id: 't', object: 'Rome', subject: ' ada ' }), of({}));
  assert.equal(of({ user_id: 'u' }), of({}, { userId: 'u' }));
  assert.equal(of({ namespace: 'default' }), of({}));
  const distinct = [
    of({}),
    of({ user_id: 'u' }),
    of({ namespace: 'n' }),
    of({ subject: 'bob' }),
    of({ relation: 'is' }),
  ];
  assert.equal(new Set(distinct).size, distinct.length);
});
