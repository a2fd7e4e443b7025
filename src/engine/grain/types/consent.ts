// Consent: what a person granted to whom, or withdrew.
import { ADDRESS, BOOL, listOf, STRING } from '../codec/kind.ts';
import { queryField } from './query-field.ts';
import type { TypeRow } from './row.ts';

export const CONSENT: TypeRow = {
  format: {
    byte: 0x0a,
    fields: [
      ['grantee_did', 'gdid', STRING],
      ['scope', 'scope', listOf(STRING)],
      ['is_withdrawal', 'isw', BOOL],
      ['basis', 'basis', STRING],
      ['jurisdiction', 'jur', STRING],
      ['prior_consent', 'pcon', ADDRESS],
      ['witness_dids', 'wdids', listOf(STRING)],
    ],
    required: ['subject_did', 'grantee_did', 'scope', 'is_withdrawal'],
    filled: ['subject_did', 'grantee_did'],
    dated: false,
  },
  api: {
    names: 'subject_did grantee_did scope is_withdrawal basis jurisdiction prior_consent witness_dids',
    aliases: {},
    answers: {},
    temporalType: 'state',
  },
  cal: {
    plural: 'consents',
    foreign: [],
    fields: [
      queryField('consent_action', 'enum', '=', 'spg', { values: ['grant', 'withdraw'], badValue: 'CAL-E064' }),
      queryField('purpose', 'string', '= !=', 'spg'),
      queryField('grantor_did', 'string', '=', 'spg', { stored: 'subject_did' }),
      queryField('grantee_did', 'string', '=', 'spg'),
      queryField('scope', 'string', '=', 'p'),
      queryField('expires_at', 'temporal', '= BETWEEN', 'sp'),
    ],
    object: undefined,
    relationIndexed: false,
    objectIndexed: false,
    addable: false,
    output: {
      attributes: 'action=consent_action grantor=grantor_did grantee=grantee_did',
      data: 'purpose consent_action grantor_did grantee_did',
      columns: 'grantor grantee action content',
      line: { note: 'action' },
    },
  },
};
