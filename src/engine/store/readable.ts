// Decides whether an opened grain may be read. Filters decide the same for many grains from columns.

import { EngineError } from '../base/errors.ts';
import type { CallContext } from '../calls/context.ts';
import { DEFAULT_PURPOSE, EVERY_PURPOSE, laterOf, statusOf } from '../govern/consent/consent.ts';
import { refuseAccess, refuseRestricted } from '../govern/decide.ts';
import type { Governed } from '../govern/governed.ts';
import { isExpired } from '../govern/policy/retention.ts';
import { sourceUsersOf } from '../grain/api/source-users.ts';
import type { Grain } from '../grain/grain.ts';
import type { Memory } from './memory.ts';

type Readable = Pick<Grain, 'type' | 'fields'>;

/**
 * MEM-E001 for an expired grain, AUT-E001 when tuples decide and the caller may not view its namespace, POL-E008 while its user
 * is restricted, or a person that it was written from, POL-E002 when reads depend on consent and one of them has withdrawn it. Undefined when the grain may be read.
 */
export function refuseRead(
  memory: Memory,
  caller: Pick<CallContext, 'purpose' | 'actor' | 'onBehalfOf' | 'owns'>,
  grain: Readable,
  nowMs: number,
): EngineError | undefined {
  if (hasExpired(memory, grain, nowMs)) return new EngineError('MEM-E001');
  const { governed } = memory;
  const { purpose = DEFAULT_PURPOSE } = caller;
  const denied = refuseAccess(governed, caller, 'viewer', grain.fields['namespace']);
  if (denied !== undefined || governed.hidesNothing) return denied;
  for (const user of personsOf(grain)) {
    const refusal = refuseRestricted(governed, user) ?? refuseWithdrawn(governed, user, purpose, nowMs);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** The grain's person, and those that it was written from. */
function personsOf({ fields }: Readable): readonly string[] {
  const user = fields['user_id'];
  return [...(typeof user === 'string' && user !== '' ? [user] : []), ...sourceUsersOf(fields)];
}

function refuseWithdrawn(governed: Governed, user: string, purpose: string, nowMs: number): EngineError | undefined {
  if (!governed.rules['consent.on_read']) return undefined;
  const said = laterOf(governed.consent(user, purpose), governed.consent(user, EVERY_PURPOSE));
  if (said === undefined || statusOf(said, nowMs) === 'granted') return undefined;
  return new EngineError('POL-E002', `this user's consent to "${purpose}" was withdrawn or has expired`, {
    details: [{ field: 'user_id', issue: `no consent to "${purpose}"` }],
  });
}

/** True when the grain has expired, by its own `expires_at` or by the memory's policy. */
export function hasExpired(memory: Memory, { type, fields }: Readable, nowMs: number): boolean {
  const expiresAt = fields['expires_at'];
  const { rules, hidesNothing } = memory.governed;
  const own = typeof expiresAt === 'number' ? expiresAt : undefined;
  if (hidesNothing) return own !== undefined && own * 1000 <= nowMs;
  const namespace = fields['namespace'];
  return isExpired(
    {
      type,
      namespace: typeof namespace === 'string' ? namespace : '',
      createdAtMs: Number(fields['created_at']),
      expiresAt: own,
    },
    rules,
    nowMs,
  );
}
