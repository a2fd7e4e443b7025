// An API key as answers show it: everything but the key.
import { SCOPES } from '../../auth/principal.ts';
import type { KeyRecord, Keys } from '../../control/keys.ts';
import { type Static, Type } from '../type.ts';

export const ScopeName = Type.Enum([...SCOPES]);

export const KeyOutput = Type.Object({
  keyId: Type.String(),
  name: Type.String(),
  principal: Type.String(),
  scopes: Type.Array(ScopeName),
  prefix: Type.String(),
  createdAt: Type.Integer(),
  memoryId: Type.Optional(Type.String()),
  namespace: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.Integer()),
  lastUsedAt: Type.Optional(Type.Integer()),
  revokedAt: Type.Optional(Type.Integer()),
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
    ...(key.memoryId === undefined ? {} : { memoryId: key.memoryId }),
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    ...(key.userId === undefined ? {} : { userId: key.userId }),
    ...(key.expiresAtMs === undefined ? {} : { expiresAt: seconds(key.expiresAtMs) }),
    ...(lastUsedMs === undefined ? {} : { lastUsedAt: seconds(lastUsedMs) }),
    ...(key.revokedAtMs === undefined ? {} : { revokedAt: seconds(key.revokedAtMs) }),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** True when `key` lies within what the caller is bound to: a bound admin sees and makes only such keys. */
export function isWithin(
  key: { readonly memoryId?: string; readonly namespace?: string; readonly userId?: string },
  caller: { readonly memoryId?: string; readonly namespace?: string; readonly userId?: string },
): boolean {
  return (
    (caller.memoryId === undefined || caller.memoryId === key.memoryId) &&
    (caller.namespace === undefined || caller.namespace === key.namespace) &&
    (caller.userId === undefined || caller.userId === key.userId)
  );
}
