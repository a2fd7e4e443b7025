import { GetRequest, GetResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall, rpc } from '../define.ts';
import { Type } from '../type.ts';
import { GrainOutput, grainOutput, Hash } from './view.ts';

export const get = defineCall({
  name: 'get',
  summary: 'One grain by its hash, in any version.',
  needs: 'read',
  reach: 'binding',
  mutates: false,
  input: Type.Object({ hash: Hash }),
  output: GrainOutput,
  errors: ['MEM-E001', 'MEM-E006'],
  grpc: rpc({ rpc: 'Get', request: GetRequest, response: GetResponse }),
  http: [{ verb: 'GET', path: 'M/grains/{hash}' }],
  call: { method: 'get', ask: ({ hash }) => ({ input: { hash } }), answer: grainOutput },
});
