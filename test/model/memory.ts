// One memory as the contract describes it: a list of grains, searched from front to back. Every write throws EngineError
// where the engine must refuse, before anything has changed.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { EngineError } from '../../src/engine/base/errors.ts';
import { IDEMPOTENCY_KEEP_MS } from '../../src/engine/base/limits.ts';
import type { AddOutcome, GrainFilter, ManifestEntry, VersionView } from '../../src/engine/calls/grain.ts';
import type { MemorySettings } from '../../src/engine/calls/memory.ts';
import { mayInvalidate } from '../../src/engine/grain/api/invalidation.ts';
import { accumulateFields, supersedeFields } from '../../src/engine/grain/api/merge.ts';
import { toApi } from '../../src/engine/grain/api/output.ts';
import { GRAIN_TYPE_NAMES } from '../../src/engine/grain/grain.ts';
import { similarity } from '../../src/engine/write/similarity.ts';
import { placementOf } from '../../src/server/placement-of.ts';
import type { RouterContext } from '../../src/shards/gather/fan.ts';
import { type Placed, partitionFor } from '../../src/shards/gather/placement.ts';
import type { ErasureProof, Input, JsonObject, JsonValue, Output } from '../../src/shards/protocol.ts';
import {
  type Bound,
  has,
  inOrder,
  isCurrent,
  isExpired,
  isWithin,
  type ModelGrain,
  type Prepared,
  passes,
  prepare,
  prepareBlob,
  reencoded,
  shownFields,
} from './grain.ts';

/** A user's key in one partition. */
interface UserKey {
  live: boolean;
  /** Seconds; of the newest destroyed key. */
  destroyedAt: number;
}

/** A proof whose fingerprint is unpredictable, because the key is random. */
export interface ExpectedProof extends Omit<ErasureProof, 'keyFingerprint'> {
  /** undefined: any fingerprint that was not returned before. After that, a repeat of the call returns the same. */
  keyFingerprint: string | undefined;
}

interface Reply {
  readonly bodyHash: string;
  readonly atMs: number;
  readonly output: unknown;
  /** The users whose words it quotes and with whose erasure it is removed. */
  readonly userId: string | undefined;
  /** The answer was removed with the person in it. */
  readonly isGone: boolean;
}

/** From the weakest to the strongest statement against a grain. */
const VERIFIED = ['', 'unverified', 'verified', 'contested', 'retracted'];

type Write<M extends 'add' | 'addBatch' | 'supersede' | 'accumulate' | 'forget' | 'importBlobs'> = (
  context: RouterContext,
  input: Input<M>,
) => Output<M>;
interface Writes {
  add: Write<'add'>;
  addBatch: Write<'addBatch'>;
  supersede: Write<'supersede'>;
  accumulate: Write<'accumulate'>;
  forget: Write<'forget'>;
  importBlobs: Write<'importBlobs'>;
  eraseUser: (context: RouterContext, input: Input<'eraseUser'>) => ExpectedProof;
}

export class ModelMemory {
  readonly settings: MemorySettings;
  readonly nowMs: () => number;
  /** In the order of writing, removed ones included. */
  readonly grains: ModelGrain[] = [];
  auditEntries = 0;
  /** The number of these that report refusals; it only grows. */
  refusals = 0;
  /** By user, by partition. */
  readonly #userKeys = new Map<string, Map<number, UserKey>>();
  /** Fingerprints returned in proofs, by user. */
  readonly #fingerprints = new Map<string, string>();
  readonly #replies = new Map<string, Reply>();
  readonly #byHash = new Map<string, ModelGrain[]>();

  constructor(settings: MemorySettings, nowMs: () => number) {
    this.settings = settings;
    this.nowMs = nowMs;
    this.auditEntries = settings.partitions;
  }

  /** Saves the whole state; the returned function restores it. */
  snapshot(): () => void {
    const count = this.grains.length;
    const standings = this.grains.map(({ removed, erased, unlinked, redacted, supersededBy, supersedes, verified }) => {
      return { removed, erased, unlinked, redacted, supersededBy, supersedes, verified };
    });
    const keys = [...this.#userKeys].map(
      ([user, byPartition]) => [user, new Map([...byPartition].map(([at, key]) => [at, { ...key }]))] as const,
    );
    const replies = [...this.#replies];
    const { auditEntries } = this;
    return () => {
      for (const modelGrain of this.grains.splice(count)) this.#byHash.get(modelGrain.hash)!.pop();
      this.grains.forEach((modelGrain, i) => {
        Object.assign(modelGrain, standings[i]);
      });
      this.#userKeys.clear();
      for (const [user, byPartition] of keys) this.#userKeys.set(user, byPartition);
      this.#replies.clear();
      for (const [key, reply] of replies) this.#replies.set(key, reply);
      this.auditEntries = auditEntries;
    };
  }

  get live(): ModelGrain[] {
    return this.grains.filter((modelGrain) => !modelGrain.removed);
  }

  /** The grain with that address, if this caller can see it. */
  find(hash: string, context: Bound = {}): ModelGrain | undefined {
    const modelGrain = this.#alike(hash)[0];
    return modelGrain !== undefined && isWithin(context, modelGrain) ? modelGrain : undefined;
  }

  /** Grains with that address, by partition: equal grains may be placed in several. */
  #alike(hash: string): ModelGrain[] {
    const alike = (this.#byHash.get(hash) ?? []).filter((one) => !one.removed);
    return alike.sort((a, b) => a.partition - b.partition);
  }

  /** The grains that a filter finds, in the order of writing. */
  passing(filter: GrainFilter, bound: Bound = {}): ModelGrain[] {
    return this.grains.filter((modelGrain) => passes(filter, bound, modelGrain, this.nowMs()));
  }

  get(context: Bound, hash: string): ModelGrain {
    const modelGrain = this.find(hash, context);
    if (modelGrain === undefined || isExpired(modelGrain, this.nowMs())) throw new EngineError('MEM-E001');
    return modelGrain;
  }

  /** Runs a write under its idempotency key, if it has one. */
  call<M extends keyof Writes>(method: M, context: RouterContext, input: Input<M>): ReturnType<Writes[M]> {
    // A method of the table with its own input, which TypeScript does not follow through M.
    const run = () =>
      (this[method] as (context: RouterContext, input: Input<M>) => ReturnType<Writes[M]>)(context, input);
    if (method !== 'addBatch' && method !== 'importBlobs')
      return this.#once(method, context, run, !('check' in input && input.check === true));
    // The batch has its key, and each item a derived one.
    this.#once('batch', context, () => undefined);
    return run();
  }

  /** `isKept`: false for a call that only reads, whose answer need not be repeated. */
  #once<T>(method: string, context: RouterContext, run: () => T, isKept = true): T {
    const { idempotency } = context;
    if (idempotency === undefined) return run();
    const key = `${context.actor}\n${idempotency.key}`;
    const stored = this.#replies.get(key);
    if (stored !== undefined && stored.atMs + IDEMPOTENCY_KEEP_MS >= this.nowMs()) {
      if (stored.bodyHash !== idempotency.bodyHash) throw new EngineError('VAL-E005');
      // Stored by the same method.
      if (!stored.isGone && this.#isStillTrue(method, context, stored.output)) return stored.output as T;
      // A claim is released when its call is refused.
      if (stored.isGone) this.#replies.delete(key);
    }
    const output = run();
    if (!isKept) return output;
    // The output of the method.
    const userId = method === 'accumulate' ? (output as Output<'accumulate'>).fields['user_id'] : undefined;
    this.#replies.set(key, {
      bodyHash: idempotency.bodyHash,
      atMs: this.nowMs(),
      output,
      userId: typeof userId === 'string' ? userId : undefined,
      isGone: false,
    });
    return output;
  }

  /** An answer that shows a grain is repeated as long as the grain exists. */
  #isStillTrue(method: string, context: Bound, output: unknown): boolean {
    if (method !== 'accumulate') return true;
    const modelGrain = this.find((output as Output<'accumulate'>).newHash, context);
    return modelGrain !== undefined && !isExpired(modelGrain, this.nowMs());
  }

  add(context: RouterContext, input: Placed): Output<'add'> {
    const prepared = prepare(input.grainType, bindFields(context, input.fields), this.nowMs());
    const partition = partitionFor(input, this.settings.partitions, context);
    return this.#add(context, prepared, partition);
  }

  addBatch(context: RouterContext, { items }: Input<'addBatch'>): Output<'addBatch'> {
    const outcomes = items.map((item, index) =>
      outcome(item.grainType, () => ({
        ...this.#once('add', itemContext(context, index), () => this.add(context, item)),
        grainType: item.grainType,
      })),
    );
    return { outcomes };
  }

  #add(context: RouterContext, prepared: Prepared, partition: number): Output<'add'> {
    const { warnings } = prepared;
    const duplicate = this.#duplicate(prepared, partition);
    if (duplicate !== undefined) return { hash: duplicate.hash, duplicate: true, warnings };
    const replaced = this.settings.dedup === 'upsert' ? this.#replaced(prepared, partition) : undefined;
    if (replaced !== undefined) this.#checkInvalidation(context, replaced, 'supersede');
    const modelGrain = this.#hold(prepared, partition);
    if (replaced !== undefined) link(replaced, modelGrain);
    this.auditEntries += 1;
    return { hash: modelGrain.hash, duplicate: false, warnings };
  }

  #duplicate(prepared: Prepared, partition: number): ModelGrain | undefined {
    const same = this.#byHash
      .get(prepared.hash)
      ?.findLast((modelGrain) => !modelGrain.removed && modelGrain.partition === partition);
    if (same !== undefined || this.settings.dedup === 'none') return same;
    const { identity } = prepared;
    const isSame = (modelGrain: ModelGrain) => modelGrain.partition === partition && modelGrain.identity === identity;
    const identical = identity === undefined ? undefined : this.passing({}).findLast(isSame);
    if (identical !== undefined || this.settings.dedup !== 'fuzzy') return identical;
    const { object = '' } = prepared;
    return this.#rivals(prepared, partition).find(
      (modelGrain) => similarity(modelGrain.object ?? '', object) >= this.settings.dedupThreshold,
    );
  }

  /** The belief that an upsert supersedes. */
  #replaced(prepared: Prepared, partition: number): ModelGrain | undefined {
    return this.#rivals(prepared, partition).find(({ object }) => object !== prepared.object);
  }

  /** Current beliefs of the same subject, relation, namespace and user, newest first. */
  #rivals(prepared: Prepared, partition: number): ModelGrain[] {
    const { type, namespace, user, subject, relation } = prepared;
    if (type !== 'belief') return [];
    const filter = { grainTypes: ['belief'], namespace, subject, relation };
    return this.passing(filter)
      .filter((modelGrain) => modelGrain.partition === partition && modelGrain.user === user)
      .reverse();
  }

  #hold(prepared: Prepared, partition: number): ModelGrain {
    const modelGrain: ModelGrain = {
      ...prepared,
      partition,
      place: this.grains.length,
      removed: false,
      unlinked: false,
      erased: false,
      redacted: false,
      supersededBy: undefined,
      supersedes: undefined,
      verified: prepared.verification,
    };
    this.grains.push(modelGrain);
    const alike = this.#byHash.get(modelGrain.hash);
    if (alike === undefined) this.#byHash.set(modelGrain.hash, [modelGrain]);
    else alike.push(modelGrain);
    if (modelGrain.user !== undefined) {
      const key = this.#keyOf(modelGrain.user, partition);
      key.live = true;
    }
    return modelGrain;
  }

  #keyOf(userId: string, partition: number): UserKey {
    let keys = this.#userKeys.get(userId);
    if (keys === undefined) {
      keys = new Map();
      this.#userKeys.set(userId, keys);
    }
    let key = keys.get(partition);
    if (key === undefined) {
      key = { live: false, destroyedAt: 0 };
      keys.set(partition, key);
    }
    return key;
  }

  #checkInvalidation(context: RouterContext, modelGrain: ModelGrain, act: 'supersede' | 'forget'): void {
    const refusal = mayInvalidate(modelGrain.grain, {
      actor: context.actor,
      act,
      nowMs: this.nowMs(),
      ...(context.reason === undefined ? {} : { reason: context.reason }),
    });
    if (refusal === undefined) return;
    // Each partition that refuses by policy writes one trail entry.
    if (act === 'supersede') this.#tellRefusals(1);
    throw refusal;
  }

  #tellRefusals(partitions: number): void {
    this.auditEntries += partitions;
    this.refusals += partitions;
  }

  supersede(context: RouterContext, { oldHash, fields, grainType }: Input<'supersede'>): Output<'supersede'> {
    const old = this.get(context, oldHash);
    if (old.supersededBy !== undefined) throw new EngineError('MEM-E002');
    const merged = supersedeFields(old.grain, fields, grainType);
    const modelGrain = this.#version(context, old, merged.fields);
    return { oldHash: old.hash, newHash: modelGrain.hash, warnings: modelGrain.warnings };
  }

  accumulate(context: RouterContext, { target, deltas, set }: Input<'accumulate'>): Output<'accumulate'> {
    const named = 'hash' in target ? this.find(target.hash) : this.passing(target, context).sort(inOrder('desc'))[0];
    const old = named === undefined ? undefined : tipOf(named);
    if (old === undefined || old.removed || isExpired(old, this.nowMs()) || !isWithin(context, old))
      throw new EngineError('MEM-E001');
    const { fields, applied } = accumulateFields(old.grain, deltas, set);
    const before = toApi(old.grain);
    // The fields come from the product's function. A state has its numbers elsewhere.
    if (old.grain.type !== 'state')
      for (const [name, delta] of Object.entries(deltas))
        assert.equal(Number(fields[name]), Number(before[name] ?? (name === 'confidence' ? 1 : 0)) + delta, name);
    const modelGrain = this.#version(context, old, fields);
    return {
      oldHash: old.hash,
      newHash: modelGrain.hash,
      applied,
      fields: toApi(modelGrain.grain, { predecessor: old.hash }),
    };
  }

  #version(context: RouterContext, old: ModelGrain, fields: JsonObject): ModelGrain {
    this.#checkInvalidation(context, old, 'supersede');
    const next: JsonObject = { ...bindFields(context, fields), derived_from: [...sourcesOf(fields), old.hash] };
    if (context.reason !== undefined && context.reason !== '') next['supersession_justification'] = context.reason;
    const prepared = prepare(old.type, next, this.nowMs());
    if (this.find(prepared.hash) !== undefined) throw new EngineError('MEM-E002');
    const modelGrain = this.#hold(prepared, old.partition);
    link(old, modelGrain);
    this.auditEntries += 1;
    return modelGrain;
  }

  /** The grains that a forget would remove. Throws its refusal. */
  forgetTargets(context: RouterContext, input: Input<'forget'>) {
    const targets = new Set<ModelGrain>();
    const notFound: string[] = [];
    const wants = (modelGrain: ModelGrain): boolean =>
      isWithin(context, modelGrain) && (input.userId === undefined || modelGrain.user === input.userId);
    for (const hash of new Set(input.hashes ?? [])) {
      const wanted = this.#alike(hash).filter(wants);
      for (const modelGrain of wanted) targets.add(modelGrain);
      if (wanted.length === 0) notFound.push(hash);
    }
    if (input.subject !== undefined) {
      for (const modelGrain of this.live)
        if (has(modelGrain, 'subject', input.subject) && wants(modelGrain)) targets.add(modelGrain);
    }
    const refusing = new Set<number>();
    let refusal: unknown;
    for (const modelGrain of targets)
      try {
        this.#checkInvalidation(context, modelGrain, 'forget');
      } catch (error) {
        refusing.add(modelGrain.partition);
        refusal ??= error;
      }
    this.#tellRefusals(refusing.size);
    if (refusal !== undefined) throw refusal;
    return { targets: [...targets], notFound };
  }

  forget(context: RouterContext, input: Input<'forget'>): Output<'forget'> {
    const { targets, notFound } = this.forgetTargets(context, input);
    if (!input.check) for (const modelGrain of targets) this.remove(modelGrain);
    return { hashes: [...new Set(targets.map(({ hash }) => hash))], notFound };
  }

  /** Removes one forgotten grain. */
  remove(modelGrain: ModelGrain): void {
    modelGrain.removed = true;
    this.auditEntries += 1;
  }

  eraseUser(_context: RouterContext, { userId }: Input<'eraseUser'>): ExpectedProof {
    const keys = [...(this.#userKeys.get(userId)?.values() ?? [])];
    const now = Math.floor(this.nowMs() / 1000);
    if (keys.length === 0) return { userId, count: 0, keyFingerprint: '', timestamp: now };
    const isRepeat = this.isErased(userId);
    const erased = this.live.filter((modelGrain) => modelGrain.user === userId);
    this.#redactSuccessors(erased);
    // The links to forgotten grains are under the same key.
    for (const modelGrain of this.grains)
      if (modelGrain.user === userId && modelGrain.removed) modelGrain.unlinked = true;
    for (const modelGrain of erased) Object.assign(modelGrain, { removed: true, erased: true });
    for (const [key, reply] of this.#replies) {
      if (reply.userId !== userId) continue;
      // One of several partitions stores that the key is used, and by which body.
      if (this.settings.partitions > 1) this.#replies.set(key, { ...reply, output: undefined, isGone: true });
      else this.#replies.delete(key);
    }
    for (const key of keys) {
      if (!key.live) continue;
      key.live = false;
      key.destroyedAt = now;
      this.auditEntries += 2;
    }
    return {
      userId,
      count: erased.length,
      keyFingerprint: isRepeat ? this.#fingerprints.get(userId) : undefined,
      timestamp: Math.max(...keys.map(({ destroyedAt }) => destroyedAt)),
    };
  }

  /** Versions by other users that name an erased grain among their sources are replaced by versions without it. */
  #redactSuccessors(erased: readonly ModelGrain[]): void {
    const result = new Set<number>();
    for (const modelGrain of erased) {
      const next = modelGrain.supersededBy;
      if (next === undefined || next.removed || erased.includes(next)) continue;
      result.add(modelGrain.partition);
      if (isCurrent(next)) this.#replaceWithout(next, modelGrain.hash);
      Object.assign(next, { removed: true, redacted: true });
    }
    this.auditEntries += result.size;
  }

  #replaceWithout(next: ModelGrain, source: string): void {
    const { derived_from: sources, ...fields } = next.grain.fields;
    const left = (Array.isArray(sources) ? sources : []).filter((one) => one !== source);
    const redacted = reencoded(next, left.length === 0 ? fields : { ...fields, derived_from: left });
    if (redacted === undefined || this.find(redacted.hash)?.partition === next.partition) return;
    const modelGrain = this.#hold(redacted, next.partition);
    modelGrain.verified = next.verified;
    link(next, modelGrain);
  }

  /** True after an erasure, until something is written for the user. */
  isErased(userId: string): boolean {
    const keys = this.#userKeys.get(userId);
    return keys !== undefined && [...keys.values()].every(({ live }) => !live);
  }

  /** The fingerprint in the last proof of the user. */
  fingerprintOf(userId: string): string | undefined {
    return this.#fingerprints.get(userId);
  }

  /** The proof of the last erasure is unknown: it was not answered, or raced with writes. */
  lostFingerprint(userId: string): void {
    this.#fingerprints.delete(userId);
  }

  /** Accepts the fingerprint of a proof; false when it cannot belong to the destroyed keys. */
  tookFingerprint(expected: ExpectedProof, fingerprint: string): boolean {
    if (expected.keyFingerprint !== undefined) return fingerprint === expected.keyFingerprint;
    const before = this.#fingerprints.get(expected.userId);
    this.#fingerprints.set(expected.userId, fingerprint);
    expected.keyFingerprint = fingerprint;
    return /^[0-9a-f]{16}$/.test(fingerprint) && fingerprint !== before;
  }

  importBlobs(context: RouterContext, { blobs, manifest, accepted = [] }: Input<'importBlobs'>): Output<'importBlobs'> {
    const partitions = this.#importPartitions(context, blobs, manifest);
    const outcomes = blobs.map((blob, index) =>
      outcome('', (): AddOutcome => {
        const prepared = prepareBlob(blob);
        const isForeign =
          (context.namespace !== undefined && prepared.namespace !== context.namespace) ||
          (context.userId !== undefined && prepared.user !== context.userId);
        if (isForeign) throw new EngineError('AUT-E001');
        return { ...this.#add(context, prepared, partitions[index]!), grainType: prepared.type };
      }),
    );
    const stored = new Set(accepted);
    for (const one of outcomes) if ('hash' in one) stored.add(one.hash);
    const refused = manifest.flatMap((entry) => {
      const result = outcome('', (): AddOutcome => {
        this.#noteStatus(context, entry, stored);
        return { hash: entry.hash, grainType: '', duplicate: false, warnings: [] };
      });
      return 'error' in result ? [{ hash: entry.hash, error: result.error }] : [];
    });
    return { outcomes, refused };
  }

  /** A manifest only makes a grain less current, and only as a supersede could. */
  #noteStatus(
    context: RouterContext,
    { hash, supersededBy, verificationStatus = '' }: ManifestEntry,
    accepted: ReadonlySet<string>,
  ): void {
    if (!accepted.has(hash)) throw new EngineError('MEM-E001');
    const old = this.get(context, hash);
    const next = supersededBy === undefined ? undefined : this.get(context, supersededBy);
    if (next !== undefined && next.partition !== old.partition) throw new EngineError('MEM-E001');
    if (old.supersededBy !== undefined && next !== undefined && old.supersededBy !== next)
      throw new EngineError('MEM-E002');
    if (next !== undefined && tipOf(next) === old) throw new EngineError('VAL-E001');
    const isRanked = verificationStatus !== '' && verificationStatus !== 'unverified';
    const [known, claimed] = [VERIFIED.indexOf(old.verified), VERIFIED.indexOf(verificationStatus)];
    if (isRanked && known > claimed) throw new EngineError('MEM-E002');
    const changes = (next !== undefined && old.supersededBy === undefined) || (isRanked && known < claimed);
    if (!changes) return;
    this.#checkInvalidation(context, old, 'supersede');
    this.auditEntries += 1;
    if (next !== undefined && old.supersededBy === undefined) link(old, next);
    if (isRanked) old.verified = verificationStatus;
  }

  /** A chain stays in its partition; a new one is placed by its oldest member. */
  #importPartitions(
    context: RouterContext,
    blobs: readonly Uint8Array[],
    manifest: Input<'importBlobs'>['manifest'],
  ): number[] {
    const placed = blobs.map((blob) => {
      try {
        return { hash: prepareBlob(blob).hash, ...placementOf(blob) };
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        return undefined;
      }
    });
    const pairs = manifest.map(({ hash, supersededBy }) => [hash, supersededBy] as const);
    return placed.map((one) => {
      if (one === undefined) return 0;
      const path = [one.hash];
      for (let i = 0; i < path.length; i++)
        path.push(...pairs.flatMap(([old, next]) => (next === path[i] && !path.includes(old) ? [old] : [])));
      const oldest = path.findLast((hash) => placed.some((other) => other?.hash === hash));
      let at: string | undefined = one.hash;
      for (let steps = 0; at !== undefined && steps < pairs.length; steps++) {
        at = pairs.findLast(([old, next]) => old === at && next !== undefined)?.[1];
        if (at !== undefined) path.push(at);
      }
      const near = path.map((hash) => this.find(hash)).find((modelGrain) => modelGrain !== undefined);
      const root = placed.find((other) => other?.hash === oldest)!;
      return near?.partition ?? partitionFor(root, this.settings.partitions, context);
    });
  }

  history(context: Bound, hash: string): Output<'history'> {
    const named = this.get(context, hash);
    const chain = [named];
    for (let at = named.supersedes; at !== undefined; at = at.supersedes) chain.unshift(at);
    for (let at = named.supersededBy; at !== undefined; at = at.supersededBy) chain.push(at);
    const versions = chain.flatMap((modelGrain, i): VersionView[] => {
      if (modelGrain.removed || isExpired(modelGrain, this.nowMs()) || !isWithin(context, modelGrain)) return [];
      const relation = i === 0 ? 'original' : i === chain.length - 1 ? 'supersedes' : 'superseded';
      const { hash: address, grain, createdAtMs } = modelGrain;
      const createdAt = Math.floor(createdAtMs / 1000);
      return [{ hash: address, grainType: grain.type, fields: shownFields(modelGrain, context), createdAt, relation }];
    });
    return { versions };
  }

  statistics(): Omit<Output<'statistics'>, 'diskSpaceBytes' | 'purgePending' | 'indexLag'> {
    const { live } = this;
    const typeCounts = Object.fromEntries(
      GRAIN_TYPE_NAMES.map((type) => [type, live.filter((modelGrain) => modelGrain.type === type).length]),
    );
    return {
      totalGrains: live.length,
      typeCounts,
      namespaces: [...new Set(live.map(({ namespace }) => namespace))].sort(),
      userCount: [...this.#userKeys.values()].filter((keys) => [...keys.values()].some(({ live }) => live)).length,
      supersededGrains: live.filter(({ supersededBy }) => supersededBy !== undefined).length,
      auditEntries: this.auditEntries,
      pendingWrites: 0,
      triples: live.filter(({ relation }) => relation !== undefined).length,
      vectors: 0,
    };
  }
}

function link(old: ModelGrain, next: ModelGrain): void {
  old.supersededBy = next;
  next.supersedes = old;
}

/** The newest version of its chain. */
export function tipOf(modelGrain: ModelGrain): ModelGrain {
  let at = modelGrain;
  while (at.supersededBy !== undefined) at = at.supersededBy;
  return at;
}

function bindFields({ namespace, userId }: Bound, fields: JsonObject): JsonObject {
  const bound = { ...fields };
  for (const [name, value] of [
    ['namespace', namespace],
    ['user_id', userId],
  ] as const) {
    if (value === undefined) continue;
    const given = fields[name] ?? value;
    if (!isDeepStrictEqual(given, value)) throw new EngineError('AUT-E001');
    bound[name] = value;
  }
  return bound;
}

function sourcesOf(fields: JsonObject): JsonValue[] {
  const sent = fields['derived_from'];
  return sent === undefined || sent === null ? [] : Array.isArray(sent) ? sent : [sent];
}

function itemContext(context: RouterContext, index: number): RouterContext {
  if (context.idempotency === undefined) return context;
  return { ...context, idempotency: { ...context.idempotency, key: `${context.idempotency.key}#${index}` } };
}

function outcome(grainType: string, run: () => AddOutcome): AddOutcome {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { error: error.toWire(), grainType };
  }
}
