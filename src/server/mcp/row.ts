// The row by which a request to /mcp is admitted: credentials, rate, memory and scope, as for every operation.
import type { Principal } from '../auth/principal.ts';
import { defineOperation } from '../operations/define.ts';
import { Type } from '../operations/type.ts';

/** The scope of an admitted request. */
export interface AdmittedScope {
  readonly memory: string;
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  readonly principal: Principal;
}

export const mcpRow = defineOperation({
  name: 'mcp',
  summary: 'Answer a message of the Model Context Protocol.',
  description: 'The tools that it calls are operations of their own.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  input: Type.Object({}),
  output: Type.Unsafe<AdmittedScope>({ type: 'object' }),
  run: async (_, { memory, namespace, userId, principal }) => ({ memory: memory.id, namespace, userId, principal }),
});
