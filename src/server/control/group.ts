// The changes of one transaction of the control store. They are made in the tables at once, and can be undone.
import { assert } from '../../engine/base/assert.ts';
import type { AuditDraft } from '../../engine/govern/trail/audit.ts';
import type { Sequence } from '../../engine/log/log.ts';
import { type Entities, type EntityKind, entityId } from './records.ts';

/** An entity and where the log has it. */
export interface Held<T> {
  value: T;
  /** Its record in the log; 0 before the first append. */
  sequence: Sequence;
  /** Id of the record's own key; 0 for the control key alone. */
  own: number;
}
export type Tables = { [K in EntityKind]: Map<string, Held<Entities[K]>> };

/** Called for every change of one kind, undone ones included: `value` is the current state. */
export type Watcher<K extends EntityKind> = (
  id: string,
  value: Entities[K] | undefined,
  before: Entities[K] | undefined,
) => void;

export type Watchers = { [K in EntityKind]: Watcher<K>[] };

/** Operations of a plan. Changes are visible at once to every reader, and undone if the log rejects the group. */
export interface Change {
  put<K extends EntityKind>(kind: K, value: Entities[K]): void;
  /** Puts a record without what it said before: under a new key, and the former one is destroyed. */
  renew<K extends EntityKind>(kind: K, value: Entities[K]): void;
  remove(kind: EntityKind, id: string): void;
  audit(draft: AuditDraft): void;
  /** A number for a new memory, never used before. */
  takeMemoryNumber(): number;
}

/** The changes of one transaction. */
export class Group implements Change {
  /** Changed entities, with their previous record and key. */
  readonly dirty = new Map<
    string,
    { readonly kind: EntityKind; readonly id: string; readonly sequence: Sequence; readonly own: number }
  >();
  /** Changed entities that get a new key. */
  readonly renewed = new Set<string>();
  readonly audits: AuditDraft[] = [];
  memoryNext: number;
  readonly #tables: Tables;
  readonly #watchers: Watchers;
  readonly #undos: (() => void)[] = [];

  constructor(tables: Tables, watchers: Watchers, memoryNext: number) {
    this.#tables = tables;
    this.#watchers = watchers;
    this.memoryNext = memoryNext;
  }

  put<K extends EntityKind>(kind: K, value: Entities[K]): void {
    this.#set(kind, entityId(kind, value), value);
  }

  renew<K extends EntityKind>(kind: K, value: Entities[K]): void {
    this.put(kind, value);
    this.renewed.add(`${kind} ${entityId(kind, value)}`);
  }

  remove(kind: EntityKind, id: string): void {
    this.#set(kind, id, undefined);
  }

  #set<K extends EntityKind>(kind: K, id: string, value: Entities[K] | undefined): void {
    const table: Map<string, Held<Entities[K]>> = this.#tables[kind];
    const before = table.get(id);
    const address = `${kind} ${id}`;
    const first = !this.dirty.has(address);
    if (first) this.dirty.set(address, { kind, id, sequence: before?.sequence ?? 0, own: before?.own ?? 0 });
    if (value === undefined) table.delete(id);
    else table.set(id, { value, sequence: 0, own: 0 });
    this.#notify(kind, id, value, before?.value);
    this.#undos.push(() => {
      if (before === undefined) table.delete(id);
      else table.set(id, before);
      if (first) this.dirty.delete(address);
      this.#notify(kind, id, before?.value, value);
    });
  }

  #notify<K extends EntityKind>(
    kind: K,
    id: string,
    value: Entities[K] | undefined,
    before: Entities[K] | undefined,
  ): void {
    for (const watcher of this.#watchers[kind]) watcher(id, value, before);
  }

  audit(draft: AuditDraft): void {
    this.audits.push(draft);
  }

  takeMemoryNumber(): number {
    assert(this.memoryNext < 0xffff_ffff, 'memory numbers are 32 bits');
    this.memoryNext += 1;
    return this.memoryNext - 1;
  }

  mark(): { undos: number; audits: number } {
    return { undos: this.#undos.length, audits: this.audits.length };
  }

  /** Undoes changes after the mark, last first. Taken numbers stay taken: numbers may have gaps. */
  undoTo(mark: { undos: number; audits: number }): void {
    while (this.#undos.length > mark.undos) this.#undos.pop()?.();
    this.audits.length = mark.audits;
  }
}
