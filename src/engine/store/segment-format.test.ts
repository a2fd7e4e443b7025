// A segment lists the facets, numbers, sections and listed fields of its format version. A later addition is missing
// from existing segments, so it needs a new format version, which makes them be built again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECTIONS } from '../index/files/section.ts';
import { FORMAT_VERSION } from '../index/files/segment-file.ts';
import { FACETS, KEYED, NUMBERS } from '../index/parts/part.ts';
import { LISTED_FIELDS } from './indexed-fields.ts';

/** By format version. Add a line for a new version; never change an old one. */
const FORMATS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  5: {
    facets:
      '1 type, 2 namespace, 3 tag, 4 user, 5 session, 6 subject, 7 relation, 8 object, 9 pair, 10 source, 11 field',
    numbers: '1 confidence, 2 importance, 3 validFromMs, 4 validToMs, 5 expiresAtMs, 6 timestampMs',
    sections:
      '1 docs, 2 address, 3 identity, 4 facetDictionary, 5 facetPostings, 6 facetNames, 7 numbers, 8 keyed, 9 textLengths, 10 textDictionary, 11 textPostings, 12 textPositions, 13 vocabulary, 14 vectors, 15 context, 16 tripleNames',
    fields:
      'action_phase, assigned_agent, consent_action, epistemic_status, goal_state, is_error, model_id, observer_id, observer_type, reasoning_type, recall_priority, role, source_type, tool_name',
  },
  6: {
    facets:
      '1 type, 2 namespace, 3 tag, 4 user, 5 session, 6 subject, 7 relation, 8 object, 9 pair, 10 source, 11 field, 12 call',
    numbers:
      '1 confidence, 2 importance, 3 validFromMs, 4 validToMs, 5 expiresAtMs, 6 timestampMs, 7 priority, 8 outcome, 9 tool, 10 error, 11 durationMs',
    sections:
      '1 docs, 2 address, 3 identity, 4 facetDictionary, 5 facetPostings, 6 facetNames, 7 numbers, 8 keyed, 9 textLengths, 10 textDictionary, 11 textPostings, 12 textPositions, 13 vocabulary, 14 vectors, 15 context, 16 tripleNames',
    fields:
      'action_phase, assigned_agent, consent_action, epistemic_status, goal_state, is_error, model_id, observer_id, observer_type, reasoning_type, recall_priority, role, source_type, tool_name',
  },
  7: {
    facets:
      '1 type, 2 namespace, 3 tag, 4 user, 5 session, 6 subject, 7 relation, 8 object, 9 pair, 10 source, 11 field, 12 call',
    numbers:
      '1 confidence, 2 importance, 3 validFromMs, 4 validToMs, 5 expiresAtMs, 6 timestampMs, 7 priority, 8 outcome, 9 tool, 10 error, 11 durationMs, 12 failsAtMs, 13 suspendsAtMs',
    sections:
      '1 docs, 2 address, 3 identity, 4 facetDictionary, 5 facetPostings, 6 facetNames, 7 numbers, 8 keyed, 9 textLengths, 10 textDictionary, 11 textPostings, 12 textPositions, 13 vocabulary, 14 vectors, 15 context, 16 tripleNames',
    fields:
      'action_phase, assigned_agent, consent_action, epistemic_status, goal_state, is_error, model_id, observer_id, observer_type, reasoning_type, recall_priority, role, source_type, tool_name',
  },
  8: {
    facets:
      '1 type, 2 namespace, 3 tag, 4 user, 5 session, 6 subject, 7 relation, 8 object, 9 pair, 10 source, 11 field, 12 call',
    numbers:
      '1 confidence, 2 importance, 3 validFromMs, 4 validToMs, 5 expiresAtMs, 6 timestampMs, 7 priority, 8 outcome, 9 tool, 10 error, 11 durationMs, 12 failsAtMs, 13 suspendsAtMs',
    sections:
      '1 docs, 2 address, 3 identity, 4 facetDictionary, 5 facetPostings, 6 facetNames, 7 numbers, 8 keyed, 9 textLengths, 10 textDictionary, 11 textPostings, 12 textPositions, 13 vocabulary, 14 vectors, 15 context, 16 tripleNames',
    fields:
      'action_phase, assigned_agent, consent_action, epistemic_status, goal_state, is_error, model_id, observer_id, observer_type, reasoning_type, recall_priority, role, source_type, tool_name',
  },
};

const numbered = (names: Readonly<Record<string, number>>): string =>
  Object.entries(names)
    .map(([name, id]) => `${id} ${name}`)
    .join(', ');

test('the content of a segment determines its format version', () => {
  const now = {
    facets: numbered(FACETS),
    numbers: numbered(NUMBERS),
    sections: numbered(SECTIONS),
    fields: [...LISTED_FIELDS].sort().join(', '),
  };
  assert.deepEqual(
    now,
    FORMATS[FORMAT_VERSION],
    'raise FORMAT_VERSION in index/files/segment-file.ts, and add its lists here',
  );
});

test('no two facets, numbers, keyed entries or sections share a number', () => {
  for (const names of [FACETS, NUMBERS, KEYED, SECTIONS]) {
    const ids: number[] = Object.values(names);
    assert.equal(new Set(ids).size, ids.length, numbered(names));
  }
});
