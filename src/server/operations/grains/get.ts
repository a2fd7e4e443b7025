import { GetRequest, GetResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { described, Type } from '../type.ts';
import { GrainOutput, grainOutput, Hash } from './view.ts';

export const get = defineCall({
  name: 'get',
  summary: 'Show a grain by its hash, in any version.',
  description: 'An old version names its successor in superseded_by.',
  example: { hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  needs: 'read',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: Type.Object({ hash: described(Hash, 'Hash of the grain, in any version.') }),
  output: GrainOutput,
  errors: ['MEM-E001', 'MEM-E006'],
  grpc: rpc({ rpc: 'Get', request: GetRequest, response: GetResponse }),
  http: [{ verb: 'GET', path: 'M/grains/{hash}' }],
  call: { method: 'get', ask: ({ hash }) => ({ input: { hash } }), answer: grainOutput },
});
