import { defineOperation } from '../define.ts';
import { Type } from '../type.ts';
import { MemoryOutput, memoryOutput } from './view.ts';

export const memoryGet = defineOperation({
  name: 'get_memory',
  summary: 'Show a memory.',
  description: 'It shows the options that the memory was made with and the policy presets that hold.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  access: ['viewer'],
  mutates: false,
  input: Type.Object({}),
  output: MemoryOutput,
  http: [{ verb: 'GET', path: 'M' }],
  run: async (_, { memory, services }) => memoryOutput(memory, services),
});
