// Audits reads: grains read by hash or listed, and recalls.

import { unreachable } from './base/assert.ts';
import { defined } from './base/defined.ts';
import { EngineError } from './base/errors.ts';
import { CALL_ROWS, type Input, type Method, type MethodsWith, type Output } from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import { AccessDenied } from './govern/access/denied.ts';
import { AgentDeactivated } from './govern/agents/deactivated.ts';
import { type AuditDraft, SYSTEM_ACTOR } from './govern/trail/audit.ts';
import { shownExcluded } from './recall/exclusion-tally.ts';
import { recallRecordContent } from './recall/record-content.ts';
import { NameRun } from './record/name-run.ts';
import type { Memory } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { deniedEntry } from './write/denied-entry.ts';
import { pseudonym } from './write/pseudonym.ts';
import type { ReadTrail } from './write/read-trail.ts';
import { refusedAgent } from './write/refused-agent.ts';

/** Reads that leave an entry or a record, as their rows declare. */
type Audited = MethodsWith<'trail', 'entry' | 'record'>;
type Done<M extends Audited = Audited> = {
  [K in M]: { readonly method: K; readonly input: Input<K>; readonly output: Output<K> };
}[M];

export function isAudited(read: { readonly method: Method }, { actor }: CallContext): read is Done {
  const row = CALL_ROWS[read.method];
  return row.kind === 'read' && row.trail !== 'nothing' && actor !== SYSTEM_ACTOR;
}

/** Queues the read's entry or record and returns the caller's output. */
export function audited(store: Store, trail: ReadTrail, context: CallContext, read: Done): Done['output'] {
  const memory = store.memory(context.memory);
  if (read.method !== 'recall') {
    trail.note(memory, readEntry(store, memory, context, read));
    return read.output;
  }
  const { input, output } = read;
  const { beyond, excluded, ...answer } = output;
  if (input.record === undefined)
    return beyond instanceof Uint8Array ? { ...output, beyond: new NameRun(beyond).texts() } : output;
  const recallId = trail.recall(memory, context, recallRecordContent(input, output));
  return defined({
    ...answer,
    // Unless the caller asked for them, exclusions are for the record only.
    excluded: shownExcluded(input, excluded),
    recallId,
  });
}

/** Audits a read that access tuples, a policy or a restriction refused, with the error code, as for refused writes. */
export function auditRefusedRead(
  store: Store,
  trail: ReadTrail,
  context: CallContext,
  read: { readonly method: Method; readonly input: unknown; readonly error: unknown },
): void {
  const { memory, partition, actor, userId } = context;
  const { method, error } = read;
  const isDenied = error instanceof AccessDenied || error instanceof AgentDeactivated;
  if (!(error instanceof EngineError) || !(isDenied || error.code.startsWith('POL-')) || actor === SYSTEM_ACTOR) return;
  const row = CALL_ROWS[method];
  const allRefuse =
    ('refusal' in row && row.refusal === 'first') || (isDenied && !('object' in error && 'namespace' in error.object));
  if (partition !== 0 && allRefuse) return;
  const { hash, filter } = read.input as {
    readonly hash?: string | undefined;
    readonly filter?: { readonly userId?: string | undefined } | undefined;
  }; // those of them that have any
  const opened = store.memory(memory);
  if (isDenied) {
    trail.refused(opened, deniedEntry(opened, context, { method, error }));
    return;
  }
  const refusal: AuditDraft = {
    event: 'policy.enforced',
    actor,
    subject: pseudonym(opened, filter?.userId ?? userId),
    details: { code: error.code, ...grainDetail(store, opened, hash), operation: method },
  };
  trail.refused(opened, refusal, refusedAgent(opened, context, method));
}

/** The grain's name for the entry; empty if the grain is not in this partition. */
function grainDetail(store: Store, memory: Memory, hash: string | undefined): { readonly grain?: string } {
  const name = hash === undefined ? undefined : store.nameOfHash(memory, hash);
  return name === undefined ? {} : { grain: name };
}

function readEntry(
  store: Store,
  memory: Memory,
  { actor, userId }: CallContext,
  read: Done<MethodsWith<'trail', 'entry'>>,
): AuditDraft {
  const event = 'memory.read';
  switch (read.method) {
    case 'get':
    case 'getRaw':
    case 'history': {
      const user = read.method === 'get' ? read.output.userId : userId;
      return { event, actor, subject: pseudonym(memory, user), details: grainDetail(store, memory, read.input.hash) };
    }
    case 'list': {
      const subject = pseudonym(memory, read.input.filter.userId ?? userId);
      return { event, actor, subject, details: { count: read.output.grains.length } };
    }
    default:
      return { event, actor, subject: pseudonym(memory, userId), details: { count: countShown(read) } };
  }
}

/** The number of grains in the answer to a read of a session or of the graph. */
function countShown(
  read: Done<'session' | 'sessionSummary' | 'sessionChain' | 'sessionContext' | 'thread' | 'edges'>,
): number {
  switch (read.method) {
    case 'session': {
      const { state, goals, actions } = read.output;
      return (state === null ? 0 : 1) + goals.length + actions.length;
    }
    case 'sessionContext': {
      const { state, goals, items } = read.output;
      return (state === null ? 0 : 1) + goals.length + items.length;
    }
    case 'sessionSummary':
      return read.output.calls;
    case 'sessionChain':
      return read.output.below.length + read.output.above.length;
    case 'thread':
      return read.output.state === null ? 0 : 1;
    case 'edges':
      return read.output.edges.length;
    default:
      return unreachable(read);
  }
}
