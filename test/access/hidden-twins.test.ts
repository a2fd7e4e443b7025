// Grains hidden by a restriction, a revoked consent or retention reveal nothing of their texts: not through left-out
// counts, scores, totals, known words or records. The twins differ only in the texts of hidden grains.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { askTwins, cal, exec, get, post, type Question, Twin } from './twins.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer({ shards: '3' });
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

const THEN = 1_700_000_000;
const NOW = Math.floor(Date.now() / 1000);
/** Equally long words that no visible grain contains. */
const SECRETS = ['quetzalcoatl', 'salamandrine'] as const;
/** Words that visible grains contain too. */
const COMMON = ['tea', 'zoo'] as const;

type How = 'restricted' | 'withdrawn' | 'expired';
const PRESETS: Readonly<Record<How, readonly string[]>> = {
  restricted: [],
  withdrawn: ['ccpa'],
  expired: ['retention_30d'],
};

const shown = (createdAt: number) =>
  [
    { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'green tea', confidence: 0.9 } },
    { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'the zoo', confidence: 0.4 } },
    {
      grain_type: 'event',
      fields: { content: 'We talked about tea', session_id: 's1', role: 'user', user_id: 'frida' },
    },
    { grain_type: 'event', fields: { content: 'We went to the zoo', session_id: 's1', role: 'user' } },
    { grain_type: 'event', fields: { content: 'And what about tea at the zoo?', session_id: 's1', role: 'assistant' } },
  ].map(({ grain_type, fields }, i) => ({
    grain_type,
    // Grains without a user and grains of a visible user, with and without a session.
    fields: { ...fields, ...('user_id' in fields ? { user_id: 'gina' } : {}), created_at: createdAt + i },
  }));

const hidden = (secret: string, common: string, createdAt: number) =>
  Array.from({ length: 6 }, (_, i) => [
    { grain_type: 'event', fields: { content: `${common} ${secret} ${i}`, session_id: 's1', role: 'user' } },
    { grain_type: 'belief', fields: { subject: secret, relation: 'likes', object: common } },
    { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: `${secret} ${common} ${i}` } },
  ])
    .flat()
    .map(({ grain_type, fields }, i) => ({
      grain_type,
      fields: { ...fields, user_id: 'frida', created_at: createdAt + i },
    }));

let made = 0;
async function twinsOf(how: How, partitions: number): Promise<readonly [Twin, Twin]> {
  made += 1;
  const twins = SECRETS.map((secret) => new Twin(http, `${secret.slice(0, 1)}-${made}`)) as [Twin, Twin]; // one per id
  for (const [i, twin] of twins.entries()) {
    await http.post('/memories', { id: twin.id, partitions, policies: PRESETS[how] });
    const visibleAt = how === 'expired' ? NOW - 100 : THEN + 1_000;
    await twin.post('/batch-add', { grains: hidden(SECRETS[i]!, COMMON[i]!, THEN) });
    await twin.post('/batch-add', { grains: shown(visibleAt) });
    if (how === 'restricted') await twin.post('/app/exec', { command: 'restrict', args: { user_id: 'frida' } });
    if (how === 'withdrawn') await twin.post('/consent/revoke', { user_id: 'frida', purpose: '*' });
  }
  return twins;
}

const EVERYTHING = {
  explanation: true,
  score_breakdown: true,
  count_entities: true,
  include_sources: true,
  query_expansion: true,
  query_decompose: true,
  multi_hop: 2,
  session_census: true,
  exhaustive: true,
  preference_enrichment: true,
};

const WORDS = [...SECRETS, ...COMMON, 'quetzalcoatle', 'salamandrina', 'Ada likes', 'what did we talk about?'];

const QUESTIONS: Readonly<Record<string, readonly Question[]>> = {
  recalls: WORDS.flatMap((query) => [
    post('/recall', { query }),
    post('/recall', { query, ...EVERYTHING }),
    post('/recall', { query: `${query} tea zoo`, explanation: true, exclude_superseded: false }),
    post('/recall', { query, grain_type: 'belief', tags: ['none'], explanation: true }),
    post('/search', { query }),
  ]),
  'structural recalls': SECRETS.flatMap((name) => [
    post('/recall', { subject: name, explanation: true }),
    post('/recall', { entity: name, explanation: true }),
    post('/recall', { subject_contains: name.slice(0, 5), explanation: true }),
    post('/recall', { query: `subject:${name} tea`, explanation: true }),
    post('/recall', { subject: 'Ada', object: `${name} tea 1`, ...EVERYTHING }),
    post('/recall', { namespace: 'default', explanation: true }),
  ]),
  chains: [post('/recall-chain', { question: `What does Ada like? Who is ${SECRETS[0]}? Where is ${SECRETS[1]}?` })],
  lists: [
    get('/grains?limit=3'),
    ...SECRETS.flatMap((name) => [get(`/grains?subject=${name}`), get(`/grains?object=${name}%20tea%201`)]),
    exec('restrictions', {}),
    get('/graph/edges'),
    ...['Ada', ...COMMON, ...SECRETS].map((name) => get(`/graph?start=${name}&direction=both`)),
  ],
  CAL: SECRETS.flatMap((name) => [
    cal(`RECALL beliefs LIKE "${name}" WITH score_breakdown, explanation`),
    cal(`RECALL events LIKE "tea ${name}" LIMIT 3`),
    cal(`EXPLAIN RECALL beliefs LIKE "${name}"`),
    cal(`EXPLAIN RECALL beliefs WHERE subject = "${name}"`),
    cal(`EXPLAIN RECALL beliefs ABOUT "${name}"`),
    cal(`RECALL beliefs WHERE subject = "${name}" COUNT`),
    cal(`RECALL beliefs ABOUT "${name}"`),
    cal('RECALL beliefs | GROUP BY object'),
    cal('RECALL beliefs CONTRADICTIONS'),
    cal(`HISTORY WHERE subject = "${name}" AND relation = "likes"`),
    cal(`ASSEMBLE FROM t: (RECALL beliefs ABOUT "${name}"), w: (RECALL events LIKE "tea") BUDGET 500 tokens`),
  ]),
};

for (const how of ['restricted', 'withdrawn', 'expired'] as const)
  for (const partitions of [1, 3])
    describe(`texts that are ${how}, ${partitions} partitions`, () => {
      let twins: readonly [Twin, Twin];
      before(async () => {
        twins = await twinsOf(how, partitions);
      });

      for (const [name, questions] of Object.entries(QUESTIONS))
        test(`${name} reveal nothing of them`, async () => {
          await askTwins(twins, questions);
        });

      test('records tell nothing of them, and count them whatever was asked', async () => {
        const counts: unknown[] = [];
        for (const query of WORDS) {
          const [one, other] = await Promise.all(
            twins.map(async (twin) => {
              const asked = { query, explanation: true, record_provenance: true };
              const { recall_id: id } = await twin.post('/recall', asked, { 'x-request-id': 'req_twin' });
              const record = await twin.get(`/provenance/${id}?explain=true`);
              counts.push(record.excluded_counts);
              const shownTo = await twin.shownTo(get(`/provenance/${id}?explain=true`));
              // Each memory enciphers names under its own keys.
              return shownTo.replace(/"grain": "[0-9a-f]{66,84}"/g, 'a name');
            }),
          );
          assert.equal(one, other, query);
        }
        const reason = { restricted: 'processing_restricted', withdrawn: 'consent_revoked', expired: 'ttl_expired' }[
          how
        ];
        const shownTo = new Set(counts.map((count) => (count as Record<string, number>)[reason]));
        // The withdrawal is a grain of the user too. Of six beliefs that say the same, five are duplicates, unless they are expired.
        assert.deepEqual([...shownTo], [{ restricted: 13, withdrawn: 14, expired: 18 }[how]]);
      });
    });
