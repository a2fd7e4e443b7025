import { includesScope, type Principal, SCOPES } from '../../auth/principal.ts';
import { requireReach } from '../../auth/reach.ts';
import type { Context } from '../../context.ts';
import { defineOperation, type Operation } from '../define.ts';
import { Type } from '../type.ts';

/** The row of GET /auth/whoami: which of the table's `rows` its caller may ask for. */
export function whoamiOperation(rows: () => readonly Operation[]): Operation {
  return defineOperation({
    name: 'whoami',
    summary: 'Show who the caller is, how it is bound, and which operations it may ask for.',
    description: 'A policy, access tuples or the input of a call may refuse it further.',
    example: {},
    needs: 'read',
    on: 'deployment',
    reach: 'nothing',
    mutates: false,
    input: Type.Object({}),
    output: Type.Object({
      actor: Type.String({ description: 'Name of the caller in the audit trail.' }),
      scopes: Type.Array(Type.Enum([...SCOPES]), {
        description: 'Scopes of the caller, with those that they include.',
      }),
      keyId: Type.Optional(Type.String({ description: 'Id of the key; absent for a token, and without keys.' })),
      keyName: Type.Optional(Type.String({ description: 'Name of the key; absent where there is no id.' })),
      memoryIds: Type.Optional(
        Type.Array(Type.String(), { description: 'Memories that the caller is bound to; absent for all.' }),
      ),
      namespace: Type.Optional(
        Type.String({ description: 'Namespace that the caller is bound to; absent for all namespaces.' }),
      ),
      userId: Type.Optional(Type.String({ description: 'Data subject that the caller is bound to; absent for all.' })),
      agentId: Type.Optional(Type.String({ description: 'Agent that the token of the caller names.' })),
      expiresAt: Type.Optional(
        Type.Integer({ description: 'Time at which the key or token ends, in Unix seconds; absent for never.' }),
      ),
      operations: Type.Array(Type.String(), {
        description: 'Names of the operations that the scopes and bindings of the caller allow.',
      }),
    }),
    http: [{ verb: 'GET', path: '/auth/whoami' }],
    async run(_, { principal, services }) {
      const { actor, keyId, memoryIds, namespace, userId, agentId } = principal;
      const untilMs = endOf(principal, services);
      return {
        actor,
        scopes: SCOPES.filter((scope) => includesScope(principal, scope)),
        keyId,
        keyName: keyId === undefined ? undefined : services.keys.find(keyId)?.name,
        memoryIds: memoryIds === undefined ? undefined : [...memoryIds],
        namespace,
        userId,
        agentId,
        expiresAt: untilMs === undefined ? undefined : Math.floor(untilMs / 1000),
        operations: rows()
          .filter((row) => isAllowed(row, principal))
          .map(({ name }) => name),
      };
    },
  });
}

function endOf({ keyId, untilMs }: Principal, { keys }: Context['services']): number | undefined {
  return keyId === undefined ? untilMs : keys.find(keyId)?.expiresAtMs;
}

function isAllowed({ needs, orMayCreateMemories, reach }: Operation, principal: Principal): boolean {
  const mayCreate = orMayCreateMemories && principal.createsMemories === true;
  if (needs !== 'public' && !mayCreate && !includesScope(principal, needs === 'key' ? 'read' : needs)) return false;
  if (reach === 'input') return true;
  try {
    requireReach(principal, reach);
    return true;
  } catch {
    return false;
  }
}
