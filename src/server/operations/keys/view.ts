// Converts an API key to its answer, without the secret.
import { type Principal, SCOPES } from '../../auth/principal.ts';
import type { KeyRecord, Keys } from '../../control/keys.ts';
import { type Static, Type } from '../type.ts';

export const ScopeName = Type.Enum([...SCOPES]);

export const KeyOutput = Type.Object({
  keyId: Type.String({ description: 'Id of the key.' }),
  name: Type.String({ description: 'Name of the key.' }),
  principal: Type.String({ description: 'Principal that calls with the key act as.' }),
  scopes: Type.Array(ScopeName, { description: 'Scopes of the key.' }),
  prefix: Type.String({ description: 'First 10 characters of the secret key.' }),
  createdAt: Type.Integer({ description: 'Time at which the key was made, in Unix seconds.' }),
  memoryId: Type.Optional(Type.String({ description: 'Memory that the key is bound to; absent for all memories.' })),
  namespace: Type.Optional(
    Type.String({ description: 'Namespace that the key is bound to; absent for all namespaces.' }),
  ),
  userId: Type.Optional(Type.String({ description: 'Data subject that the key is bound to; absent for all.' })),
  expiresAt: Type.Optional(
    Type.Integer({ description: 'Time at which the key expires, in Unix seconds; absent for never.' }),
  ),
  lastUsedAt: Type.Optional(
    Type.Integer({ description: 'Time of the last use in Unix seconds; absent for a key that was never used.' }),
  ),
  revokedAt: Type.Optional(
    Type.Integer({ description: 'Time at which the key was revoked, in Unix seconds; absent for a valid key.' }),
  ),
});
export type KeyOutput = Static<typeof KeyOutput>;

export function keyOutput(key: KeyRecord, keys: Keys): KeyOutput {
  const lastUsedMs = keys.lastUsedMs(key);
  return {
    keyId: key.keyId,
    name: key.name,
    principal: key.principal,
    scopes: [...key.scopes],
    prefix: key.prefix,
    createdAt: seconds(key.createdAtMs),
    memoryId: key.memoryId,
    namespace: key.namespace,
    userId: key.userId,
    expiresAt: key.expiresAtMs === undefined ? undefined : seconds(key.expiresAtMs),
    lastUsedAt: lastUsedMs === undefined ? undefined : seconds(lastUsedMs),
    revokedAt: key.revokedAtMs === undefined ? undefined : seconds(key.revokedAtMs),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** True when the key's binding lies within the caller's: a bound admin sees and makes only such keys. */
export function isWithin(
  key: {
    readonly memoryId?: string | undefined;
    readonly namespace?: string | undefined;
    readonly userId?: string | undefined;
  },
  caller: Pick<Principal, 'memoryIds' | 'namespace' | 'userId'>,
): boolean {
  return (
    (caller.memoryIds === undefined || (key.memoryId !== undefined && caller.memoryIds.includes(key.memoryId))) &&
    (caller.namespace === undefined || caller.namespace === key.namespace) &&
    (caller.userId === undefined || caller.userId === key.userId)
  );
}
