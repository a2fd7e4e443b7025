// The query language: the same answer on every transport.
import assert from 'node:assert/strict';
import { AWAY, CANARY, fixtureItems, HOME } from '../../cal/fixture.ts';
import { refused } from '../contract.ts';
import type { Item, Memory } from '../driver.ts';
import { assertSameEverywhere, type Case, NO_HASH } from './case.ts';

/** Statements over the fixture with their result counts. None depends on the clock. */
const QUERIES: readonly (readonly [query: string, count: number])[] = [
  ['RECALL beliefs', 20],
  ['RECALL beliefs LIMIT 1000', 25],
  ['RECALL', 20],
  ['RECALL beliefs WHERE subject = "alice" AND namespace = "home"', 6],
  ['RECALL beliefs IN "home" WHERE subject = "alice"', 6],
  ['RECALL beliefs WHERE subject = "nobody"', 0],
  ['RECALL beliefs IN SCOPE "home" LIMIT 100', 14],
  ['RECALL beliefs IN SCOPE "home/kitchen" LIMIT 100', 14],
  ['RECALL beliefs IN SCOPE "elsewhere"', 0],
  [
    '{"cal_version": 1, "statement": "recall", "grain_type": "beliefs", "where": [{"field": "subject", "op": "=", "value": "bob"}]}',
    3,
  ],
  ['RECALL beliefs WHERE subject IN ("alice", "bob") AND relation = "works_at"', 2],
  ['RECALL beliefs IN "home" WHERE relation IS PREFERENCE', 5],
  ['RECALL beliefs IN "home" WHERE relation != "mg:prefers"', 11],
  ['RECALL WHERE object = "finish report 1"', 1],
  ['RECALL beliefs IN "home" WHERE confidence >= 0.8', 6],
  ['RECALL beliefs IN "home" WHERE confidence > 0.8', 5],
  ['RECALL beliefs IN "home" WHERE confidence < 0.5', 2],
  ['RECALL beliefs WHERE importance >= 0.5', 2],
  ['RECALL beliefs WHERE tags INCLUDE ["food", "health"]', 1],
  ['RECALL beliefs IN "home" WHERE tags INCLUDE ["food"] AND tags EXCLUDE ["health"]', 1],
  ['RECALL beliefs WHERE user_id = "ann"', 2],
  ['RECALL beliefs IN "home" WHERE user_id != "ann"', 1],
  ['RECALL beliefs WHERE verification_status = "contested"', 1],
  ['RECALL beliefs CONTRADICTIONS', 14],
  ['RECALL beliefs WHERE hc:patient_id = "p1" AND tags INCLUDE ["profile:healthcare"]', 1],
  ['RECALL beliefs WHERE hc:age > 18', 1],
  ['RECALL events WHERE role = "user" AND session_id = "s1"', 4],
  ['RECALL events THREAD "s1"', 8],
  ['RECALL events RECENT 3', 3],
  ['RECALL events WHERE content = "saffron" LIMIT 3', 3],
  ['RECALL events LIKE "boiler repaired" LIMIT 1', 1],
  ['RECALL beliefs ABOUT "alice" IN "home"', 6],
  ['RECALL beliefs ABOUT "green tea" IN "home"', 1],
  ['RECALL actions WHERE tool_name IN ("search", "mail") AND is_error = false', 5],
  ['RECALL actions WHERE action_phase = "complete"', 6],
  ['RECALL observations WHERE observer_id = "cam-0"', 2],
  ['RECALL goals WHERE goal_state = "completed"', 1],
  ['RECALL goals WHERE goal_state != "active"', 3],
  ['RECALL reasonings WHERE reasoning_type = "abductive"', 1],
  ['RECALL consensuses WHERE agreement_count >= 2', 2],
  ['RECALL consensuses WHERE participating_observers INCLUDE ["cam-2"]', 1],
  ['RECALL consents WHERE consent_action = "withdraw"', 1],
  ['RECALL consents WHERE scope = "marketing"', 1],
  ['RECALL states WHERE context = "checkpoint 2"', 1],
  ['RECALL workflows WHERE trigger = "deploy"', 2],
  ['RECALL beliefs | COUNT', 1],
  ['RECALL beliefs LIMIT 3 | COUNT', 1],
  ['RECALL beliefs IN "home" ORDER BY confidence DESC LIMIT 4', 4],
  ['RECALL beliefs IN "home" ORDER BY subject LIMIT 100 OFFSET 10', 4],
  ['RECALL beliefs IN "home" | SUBJECTS', 6],
  ['RECALL beliefs WHERE subject = "bob" | OBJECTS', 3],
  ['RECALL events LIMIT 4 | HASHES', 4],
  ['RECALL beliefs | GROUP BY subject', 7],
  ['RECALL | GROUP BY type', 10],
  ['RECALL beliefs SELECT subject, object LIMIT 2', 2],
  ['RECALL beliefs IN "home" WITH dedup(subject)', 6],
  ['RECALL beliefs IN "home" WHERE subject = "alice" AS markdown', 6],
  ['RECALL goals AS [sml, toon, json AS data]', 5],
  [
    'RECALL beliefs WHERE subject IN (RECALL beliefs WHERE relation = "works_at" AND object = "Acme" | SUBJECTS) IN "home"',
    9,
  ],
  [
    'LET $who = RECALL beliefs WHERE object = "Acme" | SUBJECTS; RECALL beliefs WHERE subject IN ($who) AND relation = "mg:prefers" IN "home"',
    3,
  ],
  ['(RECALL beliefs WHERE subject = "alice" IN "home") UNION (RECALL beliefs WHERE subject = "bob")', 9],
  ['(RECALL beliefs WHERE subject = "alice") INTERSECT (RECALL beliefs WHERE relation = "works_at")', 1],
  [
    '(RECALL beliefs WHERE subject = "alice" IN "home") EXCEPT (RECALL beliefs WHERE relation = "mg:prefers" LIMIT 100)',
    4,
  ],
  ['COALESCE (RECALL beliefs WHERE subject = "nobody", RECALL goals LIMIT 2)', 2],
  ['BATCH { a: RECALL beliefs LIMIT 1, b: DESCRIBE server, c: COALESCE (RECALL states, RECALL goals) }', 3],
  [
    'ASSEMBLE ctx FOR "dinner" FROM likes: (RECALL beliefs WHERE relation IS PREFERENCE IN "home"), talk: (RECALL events THREAD "s2") BUDGET 1000 tokens PRIORITY likes > talk',
    9,
  ],
  ['ASSEMBLE FROM (RECALL goals) BUDGET 2 grains FORMAT toon', 2],
  ['HISTORY WHERE subject = "carol" AND relation = "works_at"', 1],
  ['DESCRIBE grain_types', 1],
  ['DESCRIBE fields goal', 1],
  [`EXISTS sha256:${NO_HASH}`, 1],
  [`HISTORY sha256:${NO_HASH}`, 0],
];

const REFUSED: readonly (readonly [query: string, code: string])[] = [
  ['', 'CAL-E014'],
  ['FORGET sha256:00000000', 'CAL-E002'],
  ['RECALL facts', 'CAL-E003'],
  ['RECALL beliefs WHERE colour = "x"', 'CAL-E004'],
  ['RECALL MY beliefs', 'CAL-E008'],
  ['RECALL beliefs LIMIT 0', 'CAL-E010'],
  ['ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "r"', 'CAL-E044'],
  ['DEFINE TEMPLATE t AS "{{grain.colour}}"', 'CAL-E090'],
  [`HISTORY sha256:${NO_HASH} DIFF sha256:${NO_HASH}`, 'CAL-E046'],
  ['RECALL beliefs AS TEMPLATE nobody', 'CAL-E085'],
  ['ASSEMBLE FROM (RECALL beliefs) STREAM', 'CAL-E079'],
];

async function filled(memory: Memory): Promise<readonly string[]> {
  const { added } = await memory.batchAdd(
    fixtureItems().map(({ grainType, fields }) => ({ grain_type: grainType, fields })) as readonly Item[],
  );
  return added.map(({ hash }) => hash);
}

/** Removes members that differ between runs and partitions. */
function comparable(result: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(result, (key, value) => (key === '_cal' ? undefined : value)));
}

export const CAL: readonly Case[] = [
  {
    name: 'CAL: queries over every type answer alike',
    async run(memory) {
      const hashes = await filled(memory);
      assert.equal(hashes.length, fixtureItems().length);
      for (const [query, count] of QUERIES) {
        const answer = await memory.cal(query);
        assert.equal(answer.count, count, query);
        if (!query.includes('DESCRIBE server')) assertSameEverywhere(query, comparable(answer.result));
      }
    },
  },
  {
    name: 'CAL: what is refused is refused alike, with its code',
    async run(memory) {
      for (const [query, code] of REFUSED) await refused(memory.cal(query), code);
    },
  },
  {
    name: 'CAL: a session of one namespace sees nothing of another',
    async run(memory) {
      const hashes = await filled(memory);
      const items = fixtureItems();
      const hidden = hashes.filter((_, i) => items[i]!.fields['namespace'] === AWAY);
      const home = await memory.as({ namespace: HOME });
      for (const query of [
        'RECALL LIMIT 1000',
        `RECALL beliefs IN "${AWAY}" LIMIT 1000`,
        `RECALL beliefs WHERE namespace = "${AWAY}" LIMIT 1000`,
        `RECALL beliefs IN SCOPE "${AWAY}"`,
        `RECALL LIKE "${CANARY}"`,
        'RECALL beliefs WHERE subject = "mallory"',
        'RECALL beliefs WHERE subject = "mallory" | COUNT',
        'HISTORY WHERE subject = "mallory" AND relation = "mg:prefers"',
        'EXPLAIN RECALL beliefs WHERE subject = "mallory"',
        'RECALL beliefs | GROUP BY subject',
        `EXISTS sha256:${hidden[0]}`,
        `HISTORY sha256:${hidden[0]}`,
      ]) {
        const { result } = await home.cal(query);
        const text = JSON.stringify({ ...result, _cal: undefined });
        assert.ok(!text.includes(CANARY), query);
        for (const hash of hidden) assert.ok(!text.includes(hash) || query.includes(hash), query);
      }
      assert.equal((await home.cal('RECALL beliefs | COUNT')).result['count'], 14);
      assert.equal((await home.cal('RECALL beliefs WHERE subject = "mallory" | COUNT')).result['count'], 0);
      assert.equal((await home.cal(`EXISTS sha256:${hidden[0]}`)).result['exists'], false);
      assert.equal((await memory.cal(`EXISTS sha256:${hidden[0]}`)).result['exists'], true);
      const missing = await refused(home.cal(`HISTORY sha256:${hidden[0]} DIFF sha256:${hidden[1]}`), 'CAL-E046');
      assert.ok(!missing.message.includes(String(hidden[0])));
    },
  },
  {
    name: 'CAL: versions, prefixes of hashes, and the user of the session',
    async run(memory) {
      const { hash: old } = await memory.add('belief', {
        subject: 'eve',
        relation: 'is',
        object: 'new',
        user_id: 'eve',
      });
      const tip = await memory.supersede(old, { object: 'old' });
      const { result } = await memory.cal(`HISTORY sha256:${old}`);
      assert.deepEqual(
        result['versions'].map((version: { hash: string; superseded_by: string | null }) => [
          version.hash,
          version.superseded_by,
        ]),
        [
          [`sha256:${tip}`, null],
          [`sha256:${old}`, `sha256:${tip}`],
        ],
      );
      const diff = await memory.cal(`HISTORY sha256:${old} DIFF sha256:${tip}`);
      assert.deepEqual(diff.result['changes'], [{ field: 'object', from: 'new', to: 'old' }]);
      assert.equal((await memory.cal(`EXISTS sha256:${old.slice(0, 12)}`)).result['hash'], `sha256:${old}`);
      assert.equal((await memory.cal('RECALL beliefs')).count, 1);
      const both = await memory.cal('RECALL beliefs WITH superseded ORDER BY object');
      assert.deepEqual(
        both.result['grains'].map((grain: { superseded_by: string | null }) => grain.superseded_by),
        [`sha256:${tip}`, null],
      );
      assert.equal((await memory.cal(`RECALL beliefs WHERE hash = sha256:${tip.slice(0, 20)}`)).count, 1);
      const eve = await memory.as({ user_id: 'eve' });
      assert.equal((await eve.cal('RECALL MY beliefs')).count, 1);
      const ann = await memory.as({ user_id: 'ann' });
      assert.equal((await ann.cal('RECALL beliefs WHERE user_id = "eve"')).count, 0);
    },
  },
];
