// Which reads leave something behind, and what: grains that were read by name or listed, and recalls.
import type { CallContext, MemoryCalls } from './calls.ts';
import { type AuditDraft, SYSTEM_ACTOR } from './govern/audit.ts';
import { recallAccount } from './recall/account.ts';
import type { Memory } from './store/memory.ts';
import type { Store } from './store/store.ts';
import { pseudonym } from './write/actor.ts';
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
    trail.note(memory, readEntry(memory, context, read));
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

function readEntry(
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
  return { event, actor, subject: pseudonym(memory, user), details: { hash: read.input.hash } };
}
