import Type from 'typebox';
import { stringifyJson } from '../../../engine/grain/api-json.ts';
import { GetHistoryRequest, GetHistoryResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { Fields } from './fields.ts';
import { Hash } from './view.ts';

const Version = Type.Object({
  hash: Type.String(),
  grainType: Type.String(),
  fields: Fields,
  createdAt: Type.Integer(),
  relation: Type.Enum(['original', 'superseded', 'supersedes']),
});
const Output = Type.Object({ versions: Type.Array(Version) });

export const history = defineOperation({
  name: 'history',
  summary: 'Every version of a grain, oldest first, from the hash of any of them.',
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({ hash: Hash }),
  output: Output,
  errors: ['MEM-E001'],
  exec: { command: 'history' },
  grpc: rpc({
    rpc: 'GetHistory',
    request: GetHistoryRequest,
    response: GetHistoryResponse,
    write: ({ versions }: Type.Static<typeof Output>) => ({
      versions: versions.map(({ fields, ...version }) => ({ ...version, fieldsJson: stringifyJson(fields) })),
    }),
  }),
  run: async ({ hash }, context) => ({ versions: [...(await context.call('history', { hash })).versions] }),
});
