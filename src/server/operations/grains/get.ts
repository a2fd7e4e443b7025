import Type from 'typebox';
import { GetRequest, GetResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';
import { GrainOutput, grainOutput, Hash } from './view.ts';

export const get = defineOperation({
  name: 'get',
  summary: 'One grain by its hash, in any version.',
  needs: 'read',
  on: 'memory',
  mutates: false,
  input: Type.Object({ hash: Hash }),
  output: GrainOutput,
  errors: ['MEM-E001', 'MEM-E006'],
  grpc: rpc({ rpc: 'Get', request: GetRequest, response: GetResponse }),
  http: [{ verb: 'GET', path: 'M/grains/{hash}' }],
  run: async ({ hash }, context) => grainOutput(await context.call('get', { hash })),
});
