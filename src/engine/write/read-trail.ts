// The trail of reads: audit entries and recall records. A read does not wait for the disk. Its entries collect here and
// are written with the next group of writes, or shortly after in a group of their own.
import { randomBytes, randomInt } from 'node:crypto';
import { steadyMs } from '../base/clock.ts';
import { defined } from '../base/defined.ts';
import { EngineError } from '../base/errors.ts';
import { READ_TRAIL_GROUP, READ_TRAIL_MAX, READ_TRAIL_MS } from '../base/limits.ts';
import type { CallContext } from '../calls/context.ts';
import type { RecallRecordContent } from '../calls/trail.ts';
import { seal } from '../crypto/envelope.ts';
import type { KnownAgent } from '../govern/agents/agents.ts';
import type { AuditDraft } from '../govern/trail/audit.ts';
import { EXCLUSION_REASONS, type ExclusionReason } from '../govern/trail/exclusions.ts';
import {
  BOUND_NAMESPACE,
  BOUND_USER,
  type KeptExclusions,
  type KeptNames,
  type KeptQuery,
  type KeptRecall,
  type KeptResults,
  type KeptTurn,
} from '../govern/trail/provenance.ts';
import { encodeNames, encodeRecall } from '../govern/trail/provenance-codec.ts';
import { recallIds } from '../govern/trail/recall-ids.ts';
import { isPlainHash, NO_NAME } from '../record/grain-name.ts';
import { NameRun } from '../record/name-run.ts';
import { recallKey } from '../record/record.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import type { Group } from './group.ts';
import { auditActor, pseudonym } from './pseudonym.ts';

const SALT_BYTES = 16;

interface Left {
  readonly memory: number;
  readonly draft: AuditDraft | undefined;
  readonly recall?: LeftRecall | undefined;
  /** The agent that recalled, or whose read the policy refused. */
  readonly by?: { readonly agent: KnownAgent; readonly act: 'recall' | 'refusal' } | undefined;
}

interface LeftRecall {
  readonly id: string;
  /** The id of the record without its names; '' when it has none. */
  readonly restId: string;
  /** Encoded at once: thousands of entries would weigh on the heap as objects. */
  readonly encoded: Buffer;
  readonly names: KeptNames | undefined;
  readonly atMs: number;
  /** Whether the person concerned is known to have grains, here or in another partition. */
  readonly found: boolean;
}

const NONCES = 2 ** 40;

export class ReadTrail {
  readonly #store: Store;
  #left: Left[] = [];
  /** A time of `steadyMs`. */
  #oldestMs = 0;
  /** A group that contains some entries is being committed. */
  #isInFlight = false;
  /** Entries that were lost because the log rejected writes for too long. */
  lost = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  /** The number of groups that hold all entries up to now, a group being committed included. */
  get groups(): number {
    return (this.#isInFlight ? 1 : 0) + Math.ceil(this.#left.length / READ_TRAIL_GROUP);
  }

  /** True when the entries should be written now, in a group of their own if there is no other. */
  get isDue(): boolean {
    const { length } = this.#left;
    return length >= READ_TRAIL_GROUP || (length > 0 && steadyMs(this.#store.clock) - this.#oldestMs >= READ_TRAIL_MS);
  }

  /** Records a read, when the memory's policy has reads audited. */
  note(memory: Memory, draft: AuditDraft): void {
    if (memory.governed.rules['audit.reads']) this.#push({ memory: memory.number, draft });
  }

  /**
   * Records a refused read. Like refused writes, it is recorded whether or not reads are audited. `agent`: whose trust it
   * lowers.
   */
  refused(memory: Memory, draft: AuditDraft, agent?: KnownAgent): void {
    this.#push({ memory: memory.number, draft, by: agent === undefined ? undefined : { agent, act: 'refusal' } });
  }

  /** Leaves a recall record and its audit entry. Returns the record's id, or undefined when no record is wanted. */
  recall(memory: Memory, context: CallContext, content: RecallRecordContent): string | undefined {
    const { rules } = memory.governed;
    const user = this.#personOf(memory, context, content);
    const recall =
      content.asked || rules['provenance.record'] ? this.#recordOf(memory, context, content, user) : undefined;
    const draft: AuditDraft | undefined = rules['audit.reads']
      ? {
          event: 'memory.recalled',
          actor: context.actor,
          subject: pseudonym(memory, user),
          details: defined({
            candidate_count: content.candidateCount,
            recall_id: recall?.id,
            result_count: content.resultCount ?? content.results.length,
          }),
        }
      : undefined;
    const agent = draft === undefined ? undefined : memory.governed.agents.acting(context);
    const by = agent === undefined ? undefined : ({ agent, act: 'recall' } as const);
    if (recall !== undefined || draft !== undefined) this.#push({ memory: memory.number, draft, recall, by });
    return recall?.id;
  }

  /** The person that a recall is about: named by its conditions, or by its caller's binding. */
  #personOf(memory: Memory, context: CallContext, content: RecallRecordContent): string | undefined {
    const named = content.userId ?? context.userId;
    if (named !== undefined) return named;
    return [content.entity, content.subject, content.object].find(
      (name) => name !== undefined && this.#store.namedKeys.user(memory, name) !== undefined,
    );
  }

  #recordOf(memory: Memory, context: CallContext, content: RecallRecordContent, user: string | undefined): LeftRecall {
    const atMs = this.#store.clock.nowMs();
    const names = namesOf(memory, content, user);
    const namespace = content.namespace === '' ? (context.namespace ?? '') : content.namespace;
    const asked = underBinding(content.query, {
      namespace: context.namespace !== undefined && context.namespace === namespace,
      user: context.userId !== undefined && context.userId === user,
    });
    const { text_sha256: _, ...query } = asked;
    const called = (hash: string): string => {
      if (!isPlainHash(hash)) return hash === '' ? NO_NAME : hash;
      return (content.names === undefined ? this.#store.nameOfHash(memory, hash) : content.names[hash]) || NO_NAME;
    };
    const kept: KeptRecall = {
      candidateCount: content.candidateCount,
      excluded: exclusionsOf(content, called),
      excludedCounts: content.excluded.counts,
      mode: content.mode,
      // Random: a counter would reveal how many recalls came between two records.
      nonce: randomInt(NONCES),
      namespace,
      principal: auditActor(memory, context.actor),
      // The query of the person concerned is erased together with the person.
      query: names?.text_sha256 === undefined ? asked : query,
      requestId: context.requestId,
      results: resultsOf(content, called),
      resultCount: content.resultCount ?? content.results.length,
      timestamp: Math.floor(atMs / 1000),
    };
    const { id, rest } = recallIds(kept, names);
    return {
      id,
      restId: rest,
      encoded: encodeRecall(kept),
      names,
      atMs,
      found: content.candidateCount > 0,
    };
  }

  #push(left: Left): void {
    if (this.#left.length === 0) this.#oldestMs = steadyMs(this.#store.clock);
    if (this.#left.length >= READ_TRAIL_MAX) {
      this.lost += 1;
      return;
    }
    this.#left.push(left);
  }

  /** Adds the pending entries to `group`. Returns a function that takes them back if the group is not written. */
  join(group: Group): () => void {
    const joined = this.#left.splice(0, READ_TRAIL_GROUP);
    for (const left of joined) {
      const memory = this.#memory(left.memory);
      if (memory === undefined) continue;
      const { draft, recall, by } = left;
      if (by?.act === 'recall') group.overlay(memory).actsOf(by.agent).recalls += 1;
      else if (by !== undefined)
        group.overlay(memory).actsOf(by.agent).changes.push({ reason: 'policy_refusal', ordinal: 0 });
      const follow = recall === undefined ? undefined : (entry: string) => writeRecall(group, memory, recall, entry);
      if (draft !== undefined) group.audit(memory, draft, follow);
      else follow?.('');
    }
    if (this.#left.length > 0) this.#oldestMs = Number.NEGATIVE_INFINITY;
    this.#isInFlight = joined.length > 0;
    group.onPublish(() => {
      this.#isInFlight = false;
    });
    return () => {
      this.#isInFlight = false;
      this.#left = [...joined, ...this.#left];
      this.lost += Math.max(0, this.#left.length - READ_TRAIL_MAX);
      this.#left.length = Math.min(this.#left.length, READ_TRAIL_MAX);
      this.#oldestMs = steadyMs(this.#store.clock);
    };
  }

  /**
   * Undefined for a dropped memory, or one whose chain cannot be continued at the moment. Reads of it are not recorded.
   */
  #memory(number: number): Memory | undefined {
    const store = this.#store;
    if (!store.holds(number)) return undefined;
    try {
      const memory = store.memory(number);
      if (!store.isDamaged(number)) {
        store.auditHead(number);
        return memory;
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
    this.lost += 1;
    return undefined;
  }
}

/** The query with the binding of its caller. Others who see the record later may be bound as well. */
function underBinding(
  query: KeptQuery,
  { namespace, user }: { readonly namespace: boolean; readonly user: boolean },
): KeptQuery {
  if (!namespace && !user) return query;
  const bindings = [...(namespace ? [BOUND_NAMESPACE] : []), ...(user ? [BOUND_USER] : [])];
  return { ...query, options: [...query.options, ...bindings].sort() };
}

function namesOf(memory: Memory, content: RecallRecordContent, user: string | undefined): KeptNames | undefined {
  const { entity, object, relation, subject } = content;
  const entityToken = (name: string): string => memory.tokens.facet('entity', name).toString('hex');
  const names: KeptNames = defined({
    entity: entity === undefined ? undefined : entityToken(entity),
    object: object === undefined ? undefined : entityToken(object),
    relation: relation === undefined ? undefined : memory.tokens.facet('relation', relation).toString('hex'),
    subject: subject === undefined ? undefined : entityToken(subject),
    harness: turnOf(content),
    user_id: user,
  });
  if (Object.keys(names).length === 0) return undefined;
  const { text_sha256: text } = content.query;
  return defined({
    ...names,
    salt: randomBytes(SALT_BYTES).toString('hex'),
    text_sha256: user === undefined ? undefined : text,
  });
}

function turnOf({ turn, results }: RecallRecordContent): KeptTurn | undefined {
  if (turn === undefined) return undefined;
  const ranks = new Map(results.map(({ hash }, at) => [hash, at + 1]));
  const rankOf = (hash: string): number => ranks.get(hash) ?? 0;
  return {
    action_ranks: turn.actions.map(rankOf),
    assistant_event_rank: turn.assistantEvent === null ? null : rankOf(turn.assistantEvent),
    conversation_id: turn.conversationId,
    model: turn.model,
    provider: turn.provider,
    slug: turn.slug,
    user_event_rank: rankOf(turn.userEvent),
  };
}

function exclusionsOf(
  { excluded: { named }, beyond }: RecallRecordContent,
  called: (hash: string) => string,
): KeptExclusions {
  if (beyond !== undefined) {
    const grains = new NameRun(beyond);
    return { grains, reasons: new Uint8Array(grains.count).fill(LIMIT_EXCEEDED) };
  }
  const all = named.map(({ hash, reason }) => ({ grain: called(hash), reason }));
  // A stage names a grain by its hash, the limit by its name, and each of them once.
  const excluded = named.some(({ hash }) => isPlainHash(hash)) ? onceEach(all) : all;
  return {
    grains: NameRun.of(excluded.map(({ grain }) => grain)),
    reasons: Uint8Array.from(excluded, ({ reason }) => EXCLUSION_REASONS.indexOf(reason)),
  };
}

const LIMIT_EXCEEDED = EXCLUSION_REASONS.indexOf('limit_exceeded');

interface Named {
  readonly grain: string;
  readonly reason: ExclusionReason;
}

/** Lists each grain once, with its first reason. */
function onceEach(excluded: readonly Named[]): readonly Named[] {
  const seen = new Set<string>();
  return excluded.filter(({ grain }) => {
    const isNew = grain === NO_NAME || !seen.has(grain);
    seen.add(grain);
    return isNew;
  });
}

/** The text of a CAL answer was searched for hashes. Those that are not grains of this memory are left out. */
function resultsOf({ mode, results }: RecallRecordContent, called: (hash: string) => string): KeptResults {
  const grains = results.map(({ hash }) => called(hash));
  const isKept = (_: unknown, i: number): boolean => mode !== 'cal' || grains[i] !== NO_NAME;
  return { grains: NameRun.of(grains.filter(isKept)), scores: results.map(({ score }) => score).filter(isKept) };
}

function writeRecall(group: Group, memory: Memory, recall: LeftRecall, auditHash: string): void {
  const { id, encoded, names, restId, atMs } = recall;
  const key = names?.user_id === undefined ? 0 : keyOf(group, memory, names.user_id, recall.found);
  const sealedNames =
    names === undefined || key === undefined
      ? Buffer.alloc(0)
      : key === 0
        ? memory.sealSmall(encodeNames(names), `recall-names:${id}`)
        : seal(memory.grainKey(key, 0), encodeNames(names), Buffer.from(`recall-names:${id}`));
  const sequence = group.record({
    kind: 'recall',
    memory: memory.number,
    atMs,
    id,
    namesKey: key ?? 0,
    sealedNames,
    restId,
    auditHash,
    sealed: memory.sealSmall(encoded, `recall:${id}`),
  });
  group.onPublish(() => group.store.index.publishKeyed(memory.number, 'recall', recallKey(id), sequence));
}

/**
 * The key of the person concerned, so that their erasure removes the names too. A person known in another partition
 * gets a key here. For an unknown or erased person no name is stored (undefined).
 */
function keyOf(group: Group, memory: Memory, user: string, found: boolean): number | undefined {
  const planned = group.peek(memory)?.userKeys.get(user);
  if (planned !== undefined) return planned;
  const known = group.store.namedKeys.user(memory, user);
  if (known !== undefined) return known.live ? known.key : undefined;
  return found ? group.keyOfUser(memory, user) : undefined;
}
