// Access tuples: who may do what.

import type { HarnessRelation, MemoryRelation, Tuple } from '../govern/access/tuple.ts';
import type { RowsOf } from './row.ts';

export interface TupleView extends Tuple {
  /** Seconds. */
  readonly grantedAt: number;
  /** The principal that granted it; a person by the pseudonym of the audit chain. */
  readonly grantedBy: string;
}

export interface AccessCalls {
  /** Grants a tuple. Idempotent. Throws VAL-E001, LIM-E002, and AUT-E001 under the segregation of duties. */
  grantTuple: { input: { tuple: Tuple }; output: { created: boolean; tuple: Tuple } };
  /** Revokes a tuple. Idempotent. Throws VAL-E001. */
  revokeTuple: { input: { tuple: Tuple }; output: { existed: boolean; tuple: Tuple } };
  /** Whether the subject has the relation to the object, and by which tuples. Throws VAL-E001. */
  checkAccess: {
    input: { tuple: Tuple };
    output: { allowed: boolean; path: readonly Tuple[]; depthExceeded: boolean; tuple: Tuple };
  };
  /** Refuses a caller without one of the relations to the whole memory (AUT-E001), where tuples decide. Answers nothing. */
  requireAccess: {
    input: { relations: readonly [MemoryRelation, ...MemoryRelation[]] };
    output: Record<never, never>;
  };
  /** Refuses a caller without the relation to the harness (AUT-E001), where tuples decide. Answers nothing. */
  requireHarness: {
    input: { slug: string; relation: HarnessRelation };
    output: Record<never, never>;
  };
  /** For each harness whether the caller may use it: always, where tuples do not decide. */
  usableHarnesses: { input: { slugs: readonly string[] }; output: { usable: readonly boolean[] } };
  /** For each principal whether tuples let it view any grain here, or the memory as a whole. Asks in slices. */
  viewing: { input: { actors: readonly string[] }; output: { views: readonly boolean[] } };
  /** Tuples of an object, of a subject or of the memory, in the order of their grants. `after`: a place. */
  tuples: {
    input: {
      object?: string | undefined;
      subject?: string | undefined;
      order: 'asc' | 'desc';
      after?: number | undefined;
      offset: number;
      limit: number;
    };
    /** `next` is the place of the last tuple; absent on the last page. */
    output: { tuples: readonly TupleView[]; total: number; next?: number };
  };
}

export const ACCESS_ROWS = {
  grantTuple: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { nothing: 'rules' },
    access: { memory: ['admin'] },
  },
  revokeTuple: {
    kind: 'write',
    by: 'plan',
    changes: 'rules',
    retry: 'keyed',
    gather: 'own',
    governed: { nothing: 'rules' },
    access: { memory: ['admin'] },
  },
  checkAccess: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { open: 'its function asks for admin, unless callers ask about themselves' },
  },
  requireAccess: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'answers nothing' },
    access: { open: 'its function asks for the relation that it is given' },
  },
  requireHarness: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'answers nothing' },
    access: { open: 'its function asks for the relation that it is given' },
  },
  usableHarnesses: {
    kind: 'read',
    trail: 'nothing',
    refusal: 'each',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { open: 'says what the caller itself may use' },
  },
  viewing: {
    kind: 'long',
    changes: 'nothing',
    gather: 'merged',
    governed: { nothing: 'rules' },
    access: { memory: ['viewer'] },
  },
  tuples: {
    kind: 'long',
    changes: 'nothing',
    gather: 'first',
    governed: { nothing: 'rules' },
    access: { memory: ['admin'] },
  },
} as const satisfies RowsOf<AccessCalls>;
