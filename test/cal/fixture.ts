// A small memory with every type of grain, two namespaces and two users, for the query tests.
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { JsonObject } from '../../src/engine/grain/api/json-value.ts';

/** Monday, 2026-03-02, 12:00 UTC: the fixture's clock. */
export const NOW_MS = Date.UTC(2026, 2, 2, 12);
const DAY = 86_400;

/** Occurs in every grain of the other namespace, and nowhere else. */
export const CANARY = 'xanthous';
export const HOME = 'home';
export const AWAY = 'away';

let clock = 0;

function item(grainType: string, fields: JsonObject): AddItem {
  clock += 1;
  const at = Math.floor(NOW_MS / 1000) - 20 * DAY + clock * 3_600;
  return { grainType, fields: { namespace: HOME, created_at: at, ...fields } };
}

function belief(subject: string, relation: string, object: string, more: JsonObject = {}): AddItem {
  return item('belief', { subject, relation, object, ...more });
}

/** 70 grains; the same ones each time, in the order of their creation, an hour apart. */
export function fixtureItems(): AddItem[] {
  clock = 0;
  return [
    belief('alice', 'mg:prefers', 'dark mode', { confidence: 0.92, importance: 0.5, tags: ['ui', 'style'] }),
    belief('alice', 'mg:prefers', 'green tea', { confidence: 0.8, importance: 0.2, tags: ['food'] }),
    belief('alice', 'mg:avoids', 'peanuts', { confidence: 0.99, importance: 0.9, tags: ['food', 'health'] }),
    belief('alice', 'works_at', 'Acme', { confidence: 0.7, user_id: 'ann' }),
    belief('alice', 'lives_in', 'Zürich', { confidence: 0.6, user_id: 'ann' }),
    belief('alice', 'lives_in', 'Bern', { confidence: 0.4, verification_status: 'contested' }),
    belief('bob', 'mg:prefers', 'light mode', { confidence: 0.55, tags: ['ui'] }),
    belief('bob', 'works_at', 'Acme', { confidence: 0.75, user_id: 'ben' }),
    belief('bob', 'knows', 'alice', { confidence: 0.3 }),
    belief('carol', 'mg:knows', 'alice', { confidence: 0.85, source_type: 'agent' }),
    belief('carol', 'works_at', 'Initech', { confidence: 0.65 }),
    belief('dave', 'mg:requires', 'quiet', { confidence: 0.5, epistemic_status: 'probable' }),
    belief('patient-1', 'has', 'asthma', {
      tags: ['profile:healthcare'],
      context: { 'hc:patient_id': 'p1', 'hc:age': 41 },
    }),
    belief('patient-2', 'has', 'eczema', {
      tags: ['profile:healthcare'],
      context: { 'hc:patient_id': 'p2', 'hc:age': 17 },
    }),
    ...Array.from({ length: 12 }, (_, i) =>
      item('event', {
        content: i % 2 === 0 ? `question ${i}: where is the saffron?` : `answer ${i}: on the upper shelf`,
        role: i % 2 === 0 ? 'user' : 'assistant',
        session_id: i < 8 ? 's1' : 's2',
        user_id: 'ann',
      }),
    ),
    item('event', { content: 'the boiler was repaired', role: 'user', timestamp_ms: NOW_MS - 3_600_000 }),
    ...Array.from({ length: 4 }, (_, i) =>
      item('state', { data: { label: `checkpoint ${i}`, plan: ['pack', `leave ${i}`] } }),
    ),
    ...Array.from({ length: 4 }, (_, i) =>
      item('workflow', { trigger: i < 2 ? 'deploy' : 'review', nodes: ['build', `test ${i}`] }),
    ),
    ...Array.from({ length: 6 }, (_, i) =>
      item('action', {
        tool_name: i < 3 ? 'search' : 'mail',
        content: `result ${i}`,
        is_error: i === 5,
        tool_call_id: `call-${i}`,
      }),
    ),
    ...Array.from({ length: 4 }, (_, i) =>
      item('observation', {
        observer_id: `cam-${i % 2}`,
        observer_type: 'camera',
        subject: 'door',
        object: `opened ${i}`,
      }),
    ),
    ...Array.from({ length: 5 }, (_, i) =>
      item('goal', {
        subject: 'alice',
        description: `finish report ${i}`,
        goal_state: ['active', 'satisfied', 'failed', 'suspended', 'active'][i]!,
        deadline: Math.floor(NOW_MS / 1000) + i * DAY,
      }),
    ),
    ...Array.from({ length: 3 }, (_, i) =>
      item('reasoning', {
        premises: [`smoke ${i}`, 'no wind'],
        conclusion: `fire ${i}`,
        inference_method: i === 0 ? 'abductive' : 'deductive',
      }),
    ),
    ...Array.from({ length: 3 }, (_, i) =>
      item('consensus', {
        participating_observers: ['cam-0', `cam-${i}`],
        threshold: 0.5,
        agreement_count: i + 1,
        agreed_content: `door is open ${i}`,
      }),
    ),
    ...Array.from({ length: 3 }, (_, i) =>
      item('consent', {
        subject_did: `did:key:z${i}`,
        user_id: 'ann',
        grantee_did: 'did:web:acme.test',
        scope: i === 2 ? 'marketing' : 'analytics',
        is_withdrawal: i === 1,
      }),
    ),
    ...Array.from({ length: 11 }, (_, i) =>
      belief(i < 6 ? 'alice' : 'mallory', 'mg:prefers', `${CANARY} ${i}`, {
        namespace: AWAY,
        user_id: i % 2 === 0 ? 'ben' : 'eve',
        confidence: 0.9,
      }),
    ),
  ];
}
