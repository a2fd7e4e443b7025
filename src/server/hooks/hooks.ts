// The hooks of all memories: what each one is, and how far its deliveries came. They are records of the control log.
import { randomBytes } from 'node:crypto';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { HOOKS_PER_MEMORY_MAX } from '../../engine/base/limits.ts';
import type { EventKind } from '../../engine/govern/trail/event-kinds.ts';
import { randomId } from '../control/ids.ts';
import type { HookRecord, HookStateRecord, MemoryRecord } from '../control/records.ts';
import type { ControlStore } from '../control/store.ts';
import { type FirstChange, madeBefore, UNKEPT } from '../replies.ts';

export interface NewHook {
  readonly name?: string | undefined;
  /** Absent: the hook's events are read, not sent. */
  readonly url?: string | undefined;
  readonly filters: readonly EventKind[];
  readonly hasSecret: boolean;
  /** The place in the memory's events after which it begins. */
  readonly cursor: readonly number[];
}

export class Hooks {
  readonly #control: ControlStore;
  readonly #nowMs: () => number;

  constructor(parts: { control: ControlStore; nowMs: () => number }) {
    this.#control = parts.control;
    this.#nowMs = parts.nowMs;
  }

  /** The hooks of a memory, newest first, ties by id. */
  of({ number }: Pick<MemoryRecord, 'number'>): readonly HookRecord[] {
    return [...this.#control.values('hook')].filter((hook) => hook.memory === number);
  }

  *all(): IterableIterator<HookRecord> {
    yield* this.#control.values('hook');
  }

  /** HOK-E003 for a hook that is not there, or of another memory. */
  get({ number }: Pick<MemoryRecord, 'number'>, id: string): HookRecord {
    const hook = this.#control.get('hook', id);
    if (hook?.memory !== number) throw new EngineError('HOK-E003', 'the memory has no hook with this id');
    return hook;
  }

  stateOf({ id, cursor }: HookRecord): HookStateRecord {
    return this.#control.get('hookState', id) ?? newState(id, cursor);
  }

  /**
   * HOK-E004 at the limit, MEM-E003 when the memory was deleted meanwhile. The answer alone has the secret; there is none for the hook
   * of an earlier run.
   */
  async create(
    memory: Pick<MemoryRecord, 'id' | 'number'>,
    wanted: NewHook,
    first: FirstChange = UNKEPT,
  ): Promise<{ readonly hook: HookRecord; readonly secret?: string | undefined }> {
    const made = madeBefore(this.#control, 'hook', first);
    if (made !== undefined) return { hook: made };
    const id = randomId('hook');
    const secret = wanted.hasSecret ? `whsec_${randomBytes(32).toString('hex')}` : undefined;
    const hook = await this.#control.commit((change) => {
      const there = this.#control.get('memory', memory.id);
      if (there === undefined || there.deleting === true || there.number !== memory.number)
        throw new EngineError('MEM-E003', 'the memory was deleted');
      if (this.of(memory).length >= HOOKS_PER_MEMORY_MAX)
        throw new EngineError('HOK-E004', `a memory has at most ${HOOKS_PER_MEMORY_MAX} hooks`);
      const record: HookRecord = {
        id,
        memory: memory.number,
        name: wanted.name ?? id,
        filters: wanted.filters,
        createdAtMs: this.#nowMs(),
        cursor: wanted.cursor,
        ...defined({ url: wanted.url, secret }),
      };
      change.put('hook', record);
      first.keep(change, id);
      return record;
    });
    return { hook, secret };
  }

  /** Removes the hook with its state and dead letters. */
  async delete(memory: Pick<MemoryRecord, 'number'>, id: string): Promise<void> {
    await this.#control.commit((change) => {
      this.get(memory, id);
      change.remove('hook', id);
      if (this.#control.get('hookState', id) !== undefined) change.remove('hookState', id);
    });
  }

  /** Writes how far deliveries came. States of hooks that are gone are left out. */
  async write(states: readonly HookStateRecord[]): Promise<void> {
    await this.#control.commit((change) => {
      for (const state of states) if (this.#control.get('hook', state.id) !== undefined) change.put('hookState', state);
    });
  }

  /** Calls `changed` with the id of each hook that was added or removed. */
  watch(changed: (id: string, hook: HookRecord | undefined) => void): void {
    this.#control.watch('hook', changed);
  }
}

function newState(id: string, cursor: readonly number[]): HookStateRecord {
  return { id, cursor, attempts: 0, deadInRow: 0, delivered: 0, dead: 0, letters: [], hours: [] };
}
