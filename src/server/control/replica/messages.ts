// Messages between the owner of the control log and a node with a copy of it, as JSON. They are few: the log changes seldom.

import { type Entities, type EntityKind, ERASURE_MARK } from '../records.ts';
import type { CommittedChange } from '../store.ts';

/** Kinds of records that copies have. The others belong to work that only the owner of the log does. */
export const COPIED_KINDS = ['memory', 'key', 'setting', 'provider'] as const satisfies readonly EntityKind[];
export type CopiedKind = (typeof COPIED_KINDS)[number];

/** A record that is not there any more has the value null. */
export type CopiedChange = {
  [K in CopiedKind]: { readonly kind: K; readonly id: string; readonly value: Entities[K] | null };
}[CopiedKind];

export type ToLeader =
  /** Asks for everything, then for each group of changes. */
  | { readonly is: 'subscribe' }
  /** All up to this group has been taken. */
  | { readonly is: 'taken'; readonly group: number }
  /** Asks whether the copy is up to date. */
  | { readonly is: 'beat'; readonly beat: number; readonly report?: SentReport | undefined };

/** Events on a node with a copy since its last report. */
export interface CopyReport {
  /** Keys that were used, with the time. */
  readonly uses: readonly (readonly [keyId: string, atMs: number])[];
  /** Attempts without a valid key. */
  readonly failed: number;
  /** Calls that a memory's policy refused, by the number of the memory. */
  readonly refused: readonly (readonly [memory: number, calls: number])[];
}

/** A report as it is sent, perhaps several times. */
export interface SentReport extends CopyReport {
  /** Of a node's process. */
  readonly sender: string;
  /** From 1, in order. */
  readonly number: number;
}

export type ToCopy =
  /** Everything follows, in parts, and ends with `whole`. */
  | { readonly is: 'start' }
  | { readonly is: 'part'; readonly records: readonly CopiedChange[] }
  | { readonly is: 'whole'; readonly group: number }
  | { readonly is: 'group'; readonly group: number; readonly changes: readonly CopiedChange[] }
  /** All groups that were answered when this was sent have been sent, the last of them `group`. */
  | { readonly is: 'beat'; readonly beat: number; readonly group: number }
  /** This node does not have the log, or not any more. */
  | { readonly is: 'closed' };

/** True for a record that copies have. Planned erasures name persons, and only the owner of the log erases. */
export function isCopied(kind: EntityKind, id: string): kind is CopiedKind {
  return (COPIED_KINDS as readonly EntityKind[]).includes(kind) && !(kind === 'setting' && id.includes(ERASURE_MARK));
}

export function copiedOf({ kind, id, value }: CommittedChange): CopiedChange | undefined {
  return isCopied(kind, id) ? ({ kind, id, value: value ?? null } as CopiedChange) : undefined; // the value is of the kind
}

export function messageBytes(message: ToLeader | ToCopy): Buffer {
  return Buffer.from(JSON.stringify(message));
}

/** A message of a node of this deployment: the connection is sealed. */
export function readMessage<M extends ToLeader | ToCopy>(bytes: Buffer): M {
  return JSON.parse(bytes.toString()) as M;
}
