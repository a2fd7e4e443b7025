// The requests of data subjects: each is a record of the control log under a key of its own, so it survives a restart and is
// in every backup. Once it is closed and its person erased, it gets a new key and names nobody: who asked and all free texts
// are gone, what was done and when stays.
import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Clock } from '../../engine/base/clock.ts';
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  SUBJECT_REQUEST_KEPT_MS,
  SUBJECT_REQUESTS_MAX,
  SUBJECT_REQUESTS_OF_MEMORY_MAX,
} from '../../engine/base/limits.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import { KEY_BYTES } from '../../engine/crypto/envelope.ts';
import type { JsonObject } from '../../engine/grain/api/json-value.ts';
import type { Change } from '../control/group.ts';
import { randomId } from '../control/ids.ts';
import { membersOf, type SubjectRequestOutcome, type SubjectRequestRecord } from '../control/records.ts';
import type { ControlStore } from '../control/store.ts';
import { withoutPerson } from '../proofs/erasure-proof.ts';
import { type FirstChange, madeBefore, UNKEPT } from '../replies.ts';
import { deadlineOf } from './deadline.ts';

export type NewSubjectRequest = Pick<SubjectRequestRecord, 'kind' | 'receivedAtMs' | 'days'> & {
  readonly userId: string;
  readonly requester?: string | undefined;
  readonly note?: string | undefined;
};

/** Largest numbers of requests. */
interface Most {
  readonly ofMemory: number;
  readonly all: number;
}

interface Which {
  /** Number of the memory. */
  readonly memory: number;
  readonly id: string;
}

export class SubjectRequests {
  readonly #control: ControlStore;
  readonly #clock: Clock;
  readonly #key: KeyObject;
  readonly #most: Most;

  /** The key that finds requests by their person is derived from the control key. */
  constructor(parts: {
    readonly control: ControlStore;
    readonly clock: Clock;
    readonly controlKey: KeyObject;
    readonly most?: Most | undefined;
  }) {
    this.#most = parts.most ?? { ofMemory: SUBJECT_REQUESTS_OF_MEMORY_MAX, all: SUBJECT_REQUESTS_MAX };
    this.#control = parts.control;
    this.#clock = parts.clock;
    const key = hkdfSync('sha256', parts.controlKey, Buffer.alloc(0), 'granary subject requests', KEY_BYTES);
    this.#key = createSecretKey(Buffer.from(key));
  }

  /** The requests of a memory, of one person if given, in no particular order. */
  of(memory: number, userId?: string): SubjectRequestRecord[] {
    const person = userId === undefined ? undefined : this.#personOf(memory, userId);
    return [...this.#control.values('subjectRequest')].filter(
      (one) => one.memory === memory && (person === undefined || one.person === person),
    );
  }

  /** Throws DSR-E001. */
  get({ memory, id }: Which): SubjectRequestRecord {
    const found = this.#control.get('subjectRequest', id);
    if (found === undefined || found.memory !== memory)
      throw new EngineError('DSR-E001', `there is no request ${id.slice(0, 64)} in this memory`);
    return found;
  }

  /** Rejects with DSR-E002 while the person has an open request of that kind, and with LIM-E002. */
  open(
    memory: number,
    asked: NewSubjectRequest,
    actor: string,
    first: FirstChange = UNKEPT,
  ): Promise<SubjectRequestRecord> {
    const made = madeBefore(this.#control, 'subjectRequest', first);
    if (made?.memory === memory) return Promise.resolve(made);
    const { userId, kind, receivedAtMs, days, requester, note } = asked;
    const record: SubjectRequestRecord = defined({
      id: randomId('dsr'),
      memory,
      person: this.#personOf(memory, userId),
      userId,
      kind,
      requester,
      note,
      receivedAtMs,
      openedAtMs: this.#clock.nowMs(),
      openedBy: actor,
      days,
    });
    return this.#control.commit((change) => {
      this.#removeExpired(change);
      const others = this.of(memory);
      const same = others.find((one) => one.person === record.person && one.kind === kind && one.closed === undefined);
      if (same !== undefined)
        throw new EngineError('DSR-E002', `the person has an open request of this kind: ${same.id}; close it first`);
      const { ofMemory, all } = this.#most;
      if (others.length >= ofMemory) throw new EngineError('LIM-E002', `a memory keeps ${ofMemory} requests at most`);
      if (this.#control.count('subjectRequest') >= all)
        throw new EngineError('LIM-E002', `a deployment keeps ${all} requests at most`);
      change.put('subjectRequest', record);
      first.keep(change, record.id);
      return record;
    });
  }

  /** Rejects with DSR-E002 for a request that is closed, was extended before, or is due. */
  extend(which: Which, { days, reason }: { readonly days: number; readonly reason: string }, actor: string) {
    return this.#change(which, (record) => {
      const nowMs = this.#clock.nowMs();
      if (record.extension !== undefined) throw state(record, 'was extended before: the law allows one extension');
      if (deadlineOf(record, nowMs).isOverdue)
        throw state(record, 'is due: an extension must reach the person before that');
      return { ...record, extension: { days, reason, atMs: nowMs, by: actor } };
    });
  }

  /** Notes what is held before an erasure. */
  noteHeld(which: Which, heldBefore: NonNullable<SubjectRequestRecord['heldBefore']>) {
    return this.#change(which, (record) => ({ ...record, heldBefore }));
  }

  /** Notes an erasure and its proof; also a new proof of the same erasure. */
  noteErasure(which: Which, noted: Required<Pick<SubjectRequestRecord, 'erasure' | 'proof'>>) {
    return this.#change(which, (record) => ({ ...record, ...noted }));
  }

  /** Takes a newer proof. A closed request has none that names the person. */
  noteProof(which: Which, proof: NonNullable<SubjectRequestRecord['proof']>) {
    return this.#change(which, (record) => ({ ...record, proof }));
  }

  /**
   * Closes it. `isErased`: the person was erased since it was received; then the record gets a new key and names nobody.
   * Rejects with DSR-E002.
   */
  close(
    which: Which,
    end: {
      readonly outcome: SubjectRequestOutcome;
      readonly note: string | undefined;
      readonly acts: NonNullable<SubjectRequestRecord['closed']>['acts'];
      readonly isErased: boolean;
    },
    actor: string,
  ): Promise<SubjectRequestRecord> {
    const { outcome, note, acts, isErased } = end;
    return this.#control.commit((change) => {
      const record = open(this.get(which));
      const closed = defined({ atMs: this.#clock.nowMs(), by: actor, outcome, note, acts });
      const ended: SubjectRequestRecord = { ...record, closed };
      if (!isErased) {
        change.put('subjectRequest', ended);
        return ended;
      }
      const nameless = withoutNames(ended);
      change.renew('subjectRequest', nameless);
      for (const reply of [...this.#control.values('reply')]) {
        const shown = membersOf(reply.value);
        if (shown?.['requestId'] === record.id) change.renew('reply', { ...reply, value: answerWithoutNames(shown) });
      }
      return nameless;
    });
  }

  #change(which: Which, make: (record: SubjectRequestRecord) => SubjectRequestRecord): Promise<SubjectRequestRecord> {
    return this.#control.commit((change) => {
      const changed = make(open(this.get(which)));
      change.put('subjectRequest', changed);
      return changed;
    });
  }

  /** Requests that were closed too long ago go with the next one that is opened. */
  #removeExpired(change: Change): void {
    const beforeMs = this.#clock.nowMs() - SUBJECT_REQUEST_KEPT_MS;
    for (const { id, closed } of [...this.#control.values('subjectRequest')])
      if (closed !== undefined && closed.atMs < beforeMs) change.remove('subjectRequest', id);
  }

  #personOf(memory: number, userId: string): string {
    return createHmac('sha256', this.#key)
      .update(`${memory}\0${toNfc(userId)}`)
      .digest('hex');
  }
}

/** Takes an erased person out of the closed requests of a memory; open ones keep the name until they are closed. */
export function endNames(
  change: Change,
  records: Iterable<SubjectRequestRecord>,
  { memory, userId }: { readonly memory: number; readonly userId: string },
): void {
  const name = toNfc(userId);
  for (const record of [...records]) {
    if (record.memory !== memory) continue;
    if (record.closed !== undefined && record.userId !== undefined && toNfc(record.userId) === name)
      change.renew('subjectRequest', withoutNames(record));
  }
}

/**
 * Puts the requests of the present deployment in the place of those of a restored copy: deadlines and names that have ended
 * must not come back. Requests of memories that the copy does not have are left out.
 */
export function carryRequests(change: Change, copy: ControlStore, requests: readonly SubjectRequestRecord[]): void {
  const memories = new Set([...copy.values('memory')].map(({ number }) => number));
  for (const { id } of [...copy.values('subjectRequest')]) change.remove('subjectRequest', id);
  for (const request of requests) if (memories.has(request.memory)) change.renew('subjectRequest', request);
}

/** The record without its person, who asked, and every free text. */
function withoutNames(record: SubjectRequestRecord): SubjectRequestRecord {
  const { userId, requester: _, note: __, extension, proof, closed, ...kept } = record;
  const isPerson = (actor: string): boolean => userId !== undefined && actor === `user:${userId}`;
  const shown = (actor: string): string => (isPerson(actor) ? 'erased' : actor);
  return defined({
    ...kept,
    openedBy: shown(record.openedBy),
    extension: extension && { days: extension.days, atMs: extension.atMs, by: shown(extension.by) },
    proof: proof && withoutPerson(proof),
    closed: closed && { atMs: closed.atMs, by: shown(closed.by), outcome: closed.outcome, acts: closed.acts },
  });
}

/** A stored answer that shows the request, without the same. */
function answerWithoutNames({ userId: _, requester: __, note: ___, ...kept }: JsonObject): JsonObject {
  const extension = membersOf(kept['extension']);
  if (extension === undefined) return kept;
  const { reason: ____, ...shown } = extension;
  return { ...kept, extension: shown };
}

function open(record: SubjectRequestRecord): SubjectRequestRecord {
  if (record.closed !== undefined) throw state(record, 'is closed');
  return record;
}

function state({ id }: SubjectRequestRecord, what: string): EngineError {
  return new EngineError('DSR-E002', `the request ${id} ${what}`);
}
