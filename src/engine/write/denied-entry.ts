import type { CallContext } from '../calls/context.ts';
import { subjectOf } from '../govern/access/caller.ts';
import type { AccessDenied } from '../govern/access/denied.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import type { Memory } from '../store/memory.ts';
import { auditActor, pseudonym } from './pseudonym.ts';

/** The audit entry of a refusal by access tuples: who lacked which relation to what. */
export function deniedEntry(
  memory: Memory,
  context: Pick<CallContext, 'actor' | 'onBehalfOf' | 'userId'>,
  { method, error: { relation, object } }: { readonly method: string; readonly error: AccessDenied },
): AuditDraft {
  const principal = subjectOf(context);
  return {
    event: 'authz.access_denied',
    actor: context.onBehalfOf ?? context.actor,
    subject: pseudonym(memory, context.userId),
    details: {
      ...(principal === undefined ? {} : { principal: auditActor(memory, principal) }),
      relation,
      object: 'memory' in object ? `memory:${object.memory}` : `namespace:${memory.scopeToken(object.namespace)}`,
      operation: method,
    },
  };
}
