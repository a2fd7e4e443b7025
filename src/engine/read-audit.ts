// Which reads leave something behind, and what: grains that were read by name or listed, and recalls.

import { EngineError } from './base/errors.ts';
import type { MemoryCalls } from './calls/calls.ts';
import type { CallContext } from './calls/context.ts';
import { type AuditDraft, SYSTEM_ACTOR } from './govern/trail/audit.ts';
import { recallAccount } from './recall/account.ts';
import type { Memory } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { pseudonym } from './write/pseudonym.ts';
import type { ReadTrail } from './write/read-trail.ts';

type Done = {
  [M in 'get' | 'getRaw' | 'history' | 'list' | 'recall']: {
    readonly method: M;
    readonly input: MemoryCalls[M]['input'];
    readonly output: MemoryCalls[M]['output'];
  };
}[keyof Pick<MemoryCalls, 'get' | 'getRaw' | 'history' | 'list' | 'recall'>];

const AUDITED: ReadonlySet<string> = new Set(['get', 'getRaw', 'history', 'list', 'recall'] satisfies Done['method'][]);

export function isAudited(read: { readonly method: string }, { actor }: CallContext): read is Done {
  return AUDITED.has(read.method) && actor !== SYSTEM_ACTOR;
}

/** The output as it goes to the caller, once what the read leaves was noted. */
export function audited(store: Store, trail: ReadTrail, context: CallContext, read: Done): Done['output'] {
  const memory = store.memory(context.memory);
  if (read.method !== 'recall') {
    trail.note(memory, readEntry(store, memory, context, read));
    return read.output;
  }
  const { input, output } = read;
  if (input.record === undefined) return output;
  const { beyond: _, excluded, ...told } = output;
  const recallId = trail.recall(memory, context, recallAccount(input, output));
  return {
    ...told,
    // Without being asked for they were taken down for the record alone.
    ...(excluded === undefined || input.tellExcluded !== true ? {} : { excluded }),
    ...(recallId === undefined ? {} : { recallId }),
  };
}

/** Refused by every partition of a memory alike, so that the first tells it; a grain is refused where it lies. */
const BY_CALLER: ReadonlySet<string> = new Set([
  'list',
  'recall',
  'recallStatistics',
  'recallCandidates',
  'cal',
  'calRead',
  'calScan',
]);

/** Tells the audit trail of a read that a policy or a restriction refused: by its code, as refused writes are told. */
export function auditRefusedRead(
  store: Store,
  trail: ReadTrail,
  { memory, partition, actor, userId }: CallContext,
  read: { readonly method: string; readonly input: unknown; readonly error: unknown },
): void {
  const { method, error } = read;
  if (!(error instanceof EngineError) || !error.code.startsWith('POL-') || actor === SYSTEM_ACTOR) return;
  if (BY_CALLER.has(method) && partition !== 0) return;
  const { hash, filter } = read.input as { readonly hash?: string; readonly filter?: { readonly userId?: string } }; // those of them that have any
  const held = store.memory(memory);
  trail.refused(held, {
    event: 'policy.enforced',
    actor,
    subject: pseudonym(held, filter?.userId ?? userId),
    details: { code: error.code, ...grainDetail(store, held, hash), operation: method },
  });
}

/** A grain that is not here has no name here, and an entry says nothing of it. */
function grainDetail(store: Store, memory: Memory, hash: string | undefined): { readonly grain?: string } {
  const name = hash === undefined ? undefined : store.nameOfHash(memory, hash);
  return name === undefined ? {} : { grain: name };
}

function readEntry(
  store: Store,
  memory: Memory,
  { actor, userId }: CallContext,
  read: Exclude<Done, { method: 'recall' }>,
): AuditDraft {
  const event = 'memory.read';
  if (read.method === 'list') {
    const subject = pseudonym(memory, read.input.filter.userId ?? userId);
    return { event, actor, subject, details: { count: read.output.grains.length } };
  }
  const user = read.method === 'get' ? read.output.userId : userId;
  return { event, actor, subject: pseudonym(memory, user), details: grainDetail(store, memory, read.input.hash) };
}
