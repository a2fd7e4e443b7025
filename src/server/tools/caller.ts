// For whom a tool of a model runs: the rights of the request, and the place and the person of the conversation.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { sourceUsersOf } from '../../engine/grain/api/source-users.ts';
import type { GrainView, JsonObject } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { type Persons, sourceFields } from '../models/persons.ts';

export interface ToolCaller {
  /** The request's own rights, binding and policy decide every call of a tool. */
  readonly context: Pick<Context, 'call' | 'services' | 'memory' | 'deadlineMs'>;
  /** The namespace of the conversation: tools read, write and change only there. Absent: wherever the caller may. */
  readonly namespace?: string | undefined;
  /**
   * The person of the conversation. Tools show what is about that person or about nobody, and change only what is about
   * that person. Absent: whatever the caller may see and change.
   */
  readonly userId?: string | undefined;
  /** The session of the conversation, which has its goals. */
  readonly sessionId?: string | undefined;
  /** The persons whose texts the model has been shown: grains that it writes name them. */
  readonly persons?: Persons | undefined;
}

/** Fields of a grain that a tool writes. */
export function ownFields({ namespace, userId, persons = NO_PERSONS }: ToolCaller): JsonObject {
  return defined({
    source_type: 'agent',
    namespace,
    user_id: userId,
    ...sourceFields(persons, userId),
  });
}

const NO_PERSONS: Persons = new Set();

/** The same for a new version of a grain, which also keeps the persons of the old one. */
export function versionFields({ persons = NO_PERSONS }: ToolCaller, { userId, fields }: GrainView): JsonObject {
  return { source_type: 'agent', ...sourceFields(persons.union(new Set(sourceUsersOf(fields))), userId) };
}

/**
 * The grain that a tool is to change. A model may be talked into naming any hash, so the grain must belong to the
 * conversation, beside all that the caller's rights demand. Throws MEM-E001 for another one, as for one that is not there.
 */
export async function ownGrain({ context, namespace, userId }: ToolCaller, hash: string): Promise<GrainView> {
  const grain = await context.call('get', { hash });
  const isOwn =
    (userId === undefined || grain.userId === userId) && (namespace === undefined || grain.namespace === namespace);
  if (!isOwn) throw new EngineError('MEM-E001', 'the conversation has no grain with this hash');
  return grain;
}
