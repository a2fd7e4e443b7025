import { defined } from '../base/defined.ts';
import type { CallContext } from '../calls/context.ts';
import { subjectOf } from '../govern/access/caller.ts';
import { AccessDenied } from '../govern/access/denied.ts';
import type { AgentDeactivated } from '../govern/agents/deactivated.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import type { Memory } from '../store/memory.ts';
import { auditActor, auditedName, pseudonym } from './pseudonym.ts';

/** The audit entry of a refusal by access tuples, with who lacked which relation to what, or of a deactivated agent. */
export function deniedEntry(
  memory: Memory,
  context: Pick<CallContext, 'actor' | 'onBehalfOf' | 'userId'>,
  { method, error }: { readonly method: string; readonly error: AccessDenied | AgentDeactivated },
): AuditDraft {
  const principal = subjectOf(context);
  return {
    event: 'authz.access_denied',
    actor: context.onBehalfOf ?? context.actor,
    subject: pseudonym(memory, context.userId),
    details: defined({
      principal: principal === undefined ? undefined : auditActor(memory, principal),
      ...reasonOf(memory, error),
      operation: method,
    }),
  };
}

function reasonOf(memory: Memory, error: AccessDenied | AgentDeactivated): Readonly<Record<string, string>> {
  if (!(error instanceof AccessDenied)) return { agent: auditActor(memory, error.agent), code: error.code };
  const { relation, object } = error;
  return { relation, object: auditedObject(memory, object) };
}

function auditedObject(memory: Memory, object: AccessDenied['object']): string {
  if ('memory' in object) return `memory:${object.memory}`;
  return auditedName(memory, 'harness' in object ? `harness:${object.harness}` : `namespace:${object.namespace}`);
}
