// Goal: what is to be reached, how far it has come, and by when.
import { ADDRESS, COUNT, FLOAT, INT, listOf, MAP, MS, STRING } from '../codec/kind.ts';
import { LISTED, queryField } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const GOAL_STATES: ReadonlySet<string> = new Set(['active', 'satisfied', 'failed', 'suspended']);

/** In CAL's words, then in those of the format. */
const QUERIED_STATES = ['active', 'completed', 'abandoned', 'blocked', 'satisfied', 'failed', 'suspended'];

export const GOAL: TypeRow = {
  format: {
    byte: 0x07,
    fields: [
      ['description', 'desc', STRING],
      ['goal_state', 'gs', STRING],
      ['criteria', 'crit', listOf(STRING)],
      ['criteria_structured', 'crs', listOf(MAP)],
      ['priority', 'pri', INT],
      ['parent_goals', 'pgs', listOf(ADDRESS)],
      ['state_reason', 'sr', STRING],
      ['satisfaction_evidence', 'se', listOf(ADDRESS)],
      ['progress', 'prog', FLOAT],
      ['delegate_to', 'dto', STRING],
      ['delegate_from', 'dfo', STRING],
      ['expiry_policy', 'ep', STRING],
      ['recurrence', 'rec', STRING],
      ['evidence_required', 'evreq', COUNT],
      ['rollback_on_failure', 'rof', listOf(STRING)],
      ['allowed_transitions', 'atr', listOf(STRING)],
      ['depends_on', 'depg', listOf(ADDRESS)],
      ['assigned_agent', 'asgn', STRING],
      ['expected_output', 'expout', STRING],
      ['output_grain', 'outg', ADDRESS],
      ['deadline', 'dline', MS],
    ],
    required: ['description', 'goal_state'],
    filled: ['description'],
    dated: false,
  },
  api: {
    names:
      'description object goal_state priority criteria criteria_structured parent_goals state_reason ' +
      'satisfaction_evidence progress delegate_to delegate_from expiry_policy recurrence evidence_required ' +
      'rollback_on_failure allowed_transitions depends_on assigned_agent deadline',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'goals',
    foreign: [],
    fields: [
      queryField('goal_state', 'enum', '= !=', 'spg', { values: QUERIED_STATES, badValue: 'CAL-E063', ...LISTED }),
      queryField('assigned_agent', 'string', '= !=', 'spg', LISTED),
      queryField('deadline', 'temporal', '= BETWEEN', 'sp'),
      queryField('depends_on', 'hash', '= IN', 'p'),
    ],
    object: ['description', 'object'],
    relationIndexed: false,
    objectIndexed: false,
    addable: true,
    output: {
      attributes: 'subject=subject state=goal_state? deadline=deadline?',
      data: 'subject object goal_state? deadline?',
      columns: 'subject content state',
      line: { lead: 'subject', note: 'state' },
    },
  },
};
