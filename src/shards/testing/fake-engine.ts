// An engine over Maps, as simple as it can be, for the tests of this folder: no disk, no crypto, real groups.

import { hash } from 'node:crypto';
import { assert, unreachable } from '../../engine/assert.ts';
import { EngineError } from '../../engine/errors.ts';
import { fuse } from '../../engine/recall/fuse.ts';
import { recallStagedNow } from '../../engine/recall/stages/recall-output.ts';
import type { EngineDoor } from '../engine-door.ts';
import { canonicalJson } from '../placement.ts';
import type {
  AddItem,
  AddOutcome,
  Call,
  CallContext,
  Candidate,
  GrainView,
  Input,
  JsonObject,
  LongMethod,
  Output,
  ReadMethod,
  RecallQuery,
  TextStatistics,
  WriteMethod,
} from '../protocol.ts';
import {
  askedWords,
  blobOf,
  bm25Of,
  type Grain,
  heldBy,
  itemOf,
  list,
  matches,
  newestFirst,
  viewOf,
  wordsOf,
} from './fake-grains.ts';

interface Partition {
  readonly grains: Map<string, Grain>;
  readonly erased: Map<string, { readonly fingerprint: string; readonly timestamp: number }>;
  readonly replies: Map<string, { readonly bodyHash: string; readonly reply: unknown }>;
  readonly partitions: number;
  audit: number;
}

export class FakeEngine implements EngineDoor {
  readonly shard: number;
  readonly calls: { readonly method: string; readonly context: CallContext }[] = [];
  /** Manifest entries of imports. */
  readonly imported: Input<'importBlobs'>['manifest'][number][] = [];
  /** Sizes of the groups that were committed. */
  readonly groups: number[] = [];
  nowMs = 1_700_000_000_000;
  closed = false;
  /** Slices of maintenance that are left to do. */
  maintenanceLeft = 0;
  readonly #partitions = new Map<string, Partition>();
  #ordinal = 0;
  #queue: (() => void)[] = [];
  #committing = false;

  constructor(shard: number) {
    this.shard = shard;
  }

  get pendingWrites(): number {
    return this.#queue.length;
  }

  read<M extends ReadMethod>(method: M, context: CallContext, input: Input<M>): Output<M> {
    this.calls.push({ method, context });
    // One call, by its method; TypeScript does not follow the pair through M.
    return this.#read({ method, input } as unknown as Call<ReadMethod>, context) as Output<M>;
  }

  write<M extends WriteMethod | LongMethod>(method: M, context: CallContext, input: Input<M>): Promise<Output<M>> {
    this.calls.push({ method, context });
    if (context.reason === 'hang') {
      this.#committing = true;
      return new Promise(() => undefined);
    }
    return new Promise((resolve, reject) => {
      this.#queue.push(() => {
        try {
          // As above.
          resolve(this.#once({ method, input } as unknown as Call<WriteMethod | LongMethod>, context) as Output<M>);
        } catch (error) {
          reject(error);
        }
      });
      this.#commit();
    });
  }

  maintain(): boolean {
    if (this.maintenanceLeft > 0) this.maintenanceLeft--;
    return this.maintenanceLeft > 0;
  }

  async close(): Promise<void> {
    while (this.#committing) await new Promise((resolve) => setImmediate(resolve));
    this.closed = true;
  }

  /** One group after the other; what is queued while one commits is the next. */
  #commit(): void {
    if (this.#committing || this.#queue.length === 0) return;
    this.#committing = true;
    setImmediate(() => {
      this.#committing = false;
      const group = this.#queue;
      this.#queue = [];
      this.groups.push(group.length);
      for (const run of group) run();
      this.#commit();
    });
  }

  #partition({ memory, partition }: CallContext): Partition {
    const found = this.#partitions.get(`${memory}/${partition}`);
    if (found === undefined) throw new EngineError('MEM-E003');
    return found;
  }

  #read(call: Call<ReadMethod>, context: CallContext): unknown {
    switch (call.method) {
      case 'get':
        return viewOf(this.#grain(context, call.input.hash));
      case 'getRaw':
        return { blob: Buffer.from(blobOf(this.#grain(context, call.input.hash))) };
      case 'locate':
        return { held: call.input.hashes.map((address) => this.#partition(context).grains.has(address)) };
      case 'list':
        return list([...this.#partition(context).grains.values()], call.input);
      case 'recallStatistics':
        return this.#statistics(context, call.input);
      case 'recallCandidates':
        return this.#candidates(context, call.input.query, call.input.statistics);
      case 'fetch':
        return { grains: call.input.hashes.map((address) => this.#fetch(context, address)) };
      case 'recall': {
        const {
          beyond: _,
          excluded,
          ...found
        } = recallStagedNow(
          call.input,
          { nowMs: 0 },
          (query) => this.#recall(context, query),
          (ask) => {
            if (ask.kind === 'alike') return { kind: 'alike', words: ask.words.map(() => []) };
            if (ask.kind === 'vectors') return { kind: 'vectors', vectors: ask.hashes.map(() => undefined) };
            if (ask.kind === 'namespaces') return { kind: 'namespaces', namespaces: this.#namespaces(context) };
            return { kind: 'fetch', grains: ask.hashes.map((address) => this.#fetch(context, address)) };
          },
        );
        return {
          ...found,
          ...(excluded === undefined || call.input.tellExcluded !== true ? {} : { excluded }),
          ...(call.input.record === undefined ? {} : { recallId: hash('sha256', JSON.stringify(call.input), 'hex') }),
        };
      }
      case 'alike':
        return { words: call.input.words.map(() => ({ known: false, alike: [] })) };
      case 'meanings':
        return { embedder: '', vectors: call.input.hashes.map(() => null) };
      case 'namespaces':
        return { namespaces: this.#namespaces(context) };
      case 'cal':
      case 'calRead':
        throw new EngineError('SYS-E002', 'the model reads no queries');
      case 'policy':
      case 'simulatePolicy':
      case 'restrictions':
      case 'consents':
        throw new EngineError('SYS-E002', 'the model is not governed');
      case 'history':
        return { versions: this.#chain(context, call.input.hash) };
      case 'statistics':
        return this.#memoryStatistics(context);
      case 'statisticsHistory':
        return { points: [] };
      case 'health': {
        const { shard, pendingWrites } = this;
        return {
          shard,
          ok: true,
          reasons: [],
          pendingWrites,
          tailGrains: 0,
          segments: 0,
          sequence: 0,
          sealedSequence: 0,
        };
      }
      case 'keepRecall':
        return {};
      case 'grainNames':
        return { names: call.input.hashes.map(() => '') };
      case 'grainHashes':
        return { hashes: call.input.names.map(() => '') };
      case 'knownFacts':
        return {
          facts: call.input.items.map(() => ({ answered: false, known: false, fromTexts: [] })),
          sources: call.input.sources.map(() => null),
        };
      case 'embedPages':
        return { pages: [], looked: 0, waiting: 0 };
      case 'vectorLag':
        return { waiting: 0, upTo: [0] };
      case 'vectorState':
        return { serving: [], lag: 0 };
      default:
        return unreachable(call);
    }
  }

  #once(call: Call<WriteMethod | LongMethod>, context: CallContext): unknown {
    const { idempotency } = context;
    if (idempotency === undefined || (call.method === 'claim' && call.input.release)) return this.#write(call, context);
    const { replies, partitions } = this.#partition(context);
    const name = `${call.method === 'claim' && partitions > 1 ? 'claim' : 'call'} ${idempotency.key}`;
    const known = replies.get(name);
    if (known !== undefined && known.bodyHash !== idempotency.bodyHash) throw new EngineError('VAL-E005');
    if (known !== undefined) return known.reply;
    const reply = this.#write(call, context);
    replies.set(name, { bodyHash: idempotency.bodyHash, reply });
    return reply;
  }

  #write(call: Call<WriteMethod | LongMethod>, context: CallContext): unknown {
    switch (call.method) {
      case 'attachMemory': {
        const key = `${context.memory}/${context.partition}`;
        if (!this.#partitions.has(key)) {
          this.#partitions.set(key, {
            grains: new Map(),
            erased: new Map(),
            replies: new Map(),
            partitions: call.input.settings.partitions,
            audit: 0,
          });
        }
        return {};
      }
      case 'dropMemory':
        this.#partition(context);
        if (call.input.check === true) return { keyFingerprint: '' };
        this.#partitions.delete(`${context.memory}/${context.partition}`);
        return { keyFingerprint: hash('sha256', `${context.memory}/${context.partition}`, 'hex').slice(0, 16) };
      case 'claim':
        if (call.input.release) {
          const { replies, partitions } = this.#partition(context);
          replies.delete(`${partitions > 1 ? 'claim' : 'call'} ${context.idempotency?.key}`);
        }
        return {};
      case 'calScan':
        throw new EngineError('SYS-E002', 'the model reads no queries');
      case 'users': {
        const users = [...this.#partition(context).grains.values()].map((grain) => grain.fields['user_id']);
        const named = [...new Set(users.filter((user) => typeof user === 'string'))];
        return { hashes: Buffer.concat(named.map((user) => hash('sha256', user, 'buffer').subarray(0, 6))) };
      }
      case 'add':
        return this.#add(context, call.input);
      case 'addBatch':
        return { outcomes: call.input.items.map((item) => this.#outcome(context, item)) };
      case 'importBlobs':
        this.imported.push(...call.input.manifest);
        return { outcomes: call.input.blobs.map((blob) => this.#outcome(context, itemOf(blob))), refused: [] };
      case 'supersede': {
        const old = this.#grain(context, call.input.oldHash);
        if (old.supersededBy !== undefined) throw new EngineError('MEM-E002');
        const next = this.#supersede(context, old, call.input.fields);
        return { oldHash: old.hash, newHash: next.hash, warnings: [] };
      }
      case 'accumulate':
        return this.#accumulate(context, call.input);
      case 'forget':
        return this.#forget(context, call.input);
      case 'eraseUser':
        if (call.input.check === true) return { userId: call.input.userId, count: 0, keyFingerprint: '', timestamp: 0 };
        return this.#eraseUser(context, call.input.userId);
      case 'redactUser':
        return { redacted: 0, removed: 0, more: false };
      case 'previewRemoval':
      case 'eraseScope':
        throw new EngineError('SYS-E002', 'the model has no scopes');
      case 'flush':
        return { flushed: this.#partition(context).grains.size, pending: 0 };
      case 'verifyAudit':
        return { valid: true, checked: this.#partition(context).audit, partition: context.partition };
      case 'auditPage':
      case 'recallRecords':
      case 'recallRecord':
      case 'recallTotals':
      case 'personPage':
        throw new EngineError('SYS-E002', 'the model keeps no entries');
      case 'rebuildIndexes': {
        const { size } = this.#partition(context).grains;
        return { grainsScanned: size, ftsIndexed: size, vectorsIndexed: 0, errors: 0, elapsedMs: 1 };
      }
      case 'compliance':
      case 'policyImpact':
      case 'setPolicy':
      case 'restrict':
      case 'consent':
      case 'consentFacts':
      case 'retentionStatus':
      case 'enforceRetention':
        throw new EngineError('SYS-E002', 'the model is not governed');
      case 'note':
        this.#partition(context).audit += 1;
        return {};
      case 'compact':
        return { reclaimedBytes: 10 };
      case 'rotateKeys':
        return { rotated: 1, fingerprint: hash('sha256', `rotated ${context.partition}`, 'hex').slice(0, 16) };
      case 'exportPage':
        return this.#exportPage(context, call.input);
      case 'verify':
        return { records: 0, grains: 0, blocks: 0, auditEntries: 0, findings: [] };
      case 'backup':
        return { bytes: 7 };
      case 'keepVectors':
        return { kept: 0 };
      case 'rewrapKeys':
        return { rewrapped: call.input.masterKeys.length };
      default:
        return unreachable(call);
    }
  }

  #grain(context: CallContext, address: string): Grain {
    const grain = this.#partition(context).grains.get(address);
    if (grain === undefined) throw new EngineError('MEM-E001');
    return grain;
  }

  #fetch(context: CallContext, address: string): GrainView | null {
    const grain = this.#partition(context).grains.get(address);
    return grain === undefined ? null : viewOf(grain);
  }

  #add(context: CallContext, { grainType, fields }: AddItem): Output<'add'> {
    if (grainType === 'bug') assert(false, 'a bug on purpose');
    if (fields['refuse'] === true)
      throw new EngineError('VAL-E003', 'refused', { details: [{ field: 'refuse', issue: 'set' }] });
    const partition = this.#partition(context);
    const address = hash('sha256', canonicalJson({ grainType, fields }), 'hex');
    const duplicate = partition.grains.has(address);
    if (!duplicate) {
      const createdAtMs = typeof fields['created_at'] === 'number' ? fields['created_at'] : this.nowMs;
      partition.grains.set(address, { ordinal: ++this.#ordinal, hash: address, grainType, fields, createdAtMs });
    }
    partition.audit++;
    return { hash: address, duplicate, warnings: [] };
  }

  #outcome(context: CallContext, item: AddItem): AddOutcome {
    try {
      return { ...this.#add(context, item), grainType: item.grainType };
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return { error: error.toWire(), grainType: item.grainType };
    }
  }

  #supersede(context: CallContext, old: Grain, fields: JsonObject): Grain {
    const { hash: address } = this.#add(context, {
      grainType: old.grainType,
      fields: { ...fields, derived_from: old.hash },
    });
    const next = this.#grain(context, address);
    next.supersedes = old.hash;
    old.supersededBy = address;
    return next;
  }

  #accumulate(context: CallContext, { target, deltas, set }: Input<'accumulate'>): Output<'accumulate'> {
    let grain: Grain | undefined;
    if ('hash' in target) grain = this.#grain(context, target.hash);
    else grain = newestFirst([...this.#partition(context).grains.values()].filter((one) => matches(one, target)))[0];
    while (grain?.supersededBy !== undefined) grain = this.#grain(context, grain.supersededBy);
    if (grain === undefined) throw new EngineError('MEM-E001');
    const applied = Object.entries(deltas).map(([field, delta]) => {
      const old = grain.fields[field];
      return { field, old: old ?? null, new: (typeof old === 'number' ? old : 0) + delta };
    });
    const fields = { ...grain.fields, ...Object.fromEntries(applied.map((one) => [one.field, one.new])), ...set };
    const next = this.#supersede(context, grain, fields);
    return { oldHash: grain.hash, newHash: next.hash, applied, fields };
  }

  #forget(context: CallContext, { hashes = [], subject, userId, check }: Input<'forget'>): Output<'forget'> {
    const { grains } = this.#partition(context);
    const named = [...grains.values()].filter(
      (grain) =>
        (hashes.includes(grain.hash) || (subject !== undefined && grain.fields['subject'] === subject)) &&
        (userId === undefined || grain.fields['user_id'] === userId),
    );
    if (named.some((grain) => grain.fields['protected'] === true)) throw new EngineError('POL-E003');
    if (!check) for (const grain of named) grains.delete(grain.hash);
    return {
      hashes: named.map((grain) => grain.hash),
      notFound: [...new Set(hashes)].filter((address) => !named.some((one) => one.hash === address)),
    };
  }

  #eraseUser(context: CallContext, userId: string): Output<'eraseUser'> {
    const { grains, erased } = this.#partition(context);
    const own = [...grains.values()].filter((grain) => grain.fields['user_id'] === userId);
    for (const grain of own) grains.delete(grain.hash);
    const timestamp = Math.floor(this.nowMs / 1_000);
    if (own.length > 0) {
      const fingerprint = hash('sha256', `${userId} ${context.partition} ${timestamp}`, 'hex').slice(0, 16);
      erased.set(userId, { fingerprint, timestamp });
    }
    const known = erased.get(userId);
    return {
      userId,
      count: own.length,
      keyFingerprint: known?.fingerprint ?? '',
      timestamp: known?.timestamp ?? timestamp,
    };
  }

  #statistics(context: CallContext, { query = '' }: RecallQuery): TextStatistics {
    const texts = [...this.#partition(context).grains.values()].map(wordsOf);
    const terms = [...new Set(query.split(' '))];
    return {
      docs: texts.length,
      totalLength: texts.reduce((sum, words) => sum + words.length, 0),
      documentFrequency: Object.fromEntries(
        terms.map((term) => [term, texts.filter((words) => words.includes(term)).length]),
      ),
    };
  }

  #candidates(context: CallContext, query: RecallQuery, statistics: TextStatistics): Output<'recallCandidates'> {
    const grains = [...this.#partition(context).grains.values()].filter((grain) => matches(grain, query.filter));
    const scored = newestFirst(grains).map((grain) => ({ grain, bm25: bm25Of(grain, query, statistics) }));
    const words = scored.filter(({ bm25 }) => bm25 > 0).toSorted((a, b) => b.bm25 - a.bm25);
    const inWords = new Set(words.slice(0, query.candidateLimit));
    const isStructural = query.structural || query.query === undefined;
    const newest = scored.slice(0, query.candidateLimit);
    const inStructural = new Set(isStructural ? newest : []);
    const candidates = scored.flatMap((one): Candidate[] => {
      if (!inWords.has(one) && !inStructural.has(one)) return [];
      const { ordinal, hash: address, createdAtMs } = one.grain;
      const bm25 = inWords.has(one) ? { bm25: one.bm25 } : {};
      const structural = inStructural.has(one) ? { structural: true } : {};
      const held = heldBy(one.grain, query);
      return [{ hash: address, ordinal, createdAtMs, held, ...bm25, ...structural }];
    });
    const asked = askedWords(query);
    return { candidates, total: candidates.length, termShares: asked.map(() => 1 / asked.length) };
  }

  #recall(context: CallContext, query: RecallQuery): Output<'recall'> {
    const { candidates, total } = this.#candidates(context, query, this.#statistics(context, query));
    const hits = fuse(candidates, query).map(({ candidate, ...scores }) => {
      const grain = viewOf(this.#grain(context, candidate.hash));
      return { grain, superseded: grain.supersededBy !== undefined, ...scores };
    });
    return { hits, total, coverage: null };
  }

  #namespaces(context: CallContext): string[] {
    const grains = [...this.#partition(context).grains.values()];
    return [...new Set(grains.map(({ fields }) => String(fields['namespace'] ?? '')))];
  }

  #chain(context: CallContext, address: string): Output<'history'>['versions'] {
    let root = this.#grain(context, address);
    while (root.supersedes !== undefined) root = this.#grain(context, root.supersedes);
    const chain = [root];
    for (let next = root.supersededBy; next !== undefined; next = chain.at(-1)?.supersededBy)
      chain.push(this.#grain(context, next));
    return chain.map((grain, index) => ({
      hash: grain.hash,
      grainType: grain.grainType,
      fields: grain.fields,
      createdAt: grain.createdAtMs / 1_000,
      relation: index === 0 ? 'original' : index === chain.length - 1 ? 'supersedes' : 'superseded',
    }));
  }

  #memoryStatistics(context: CallContext): Output<'statistics'> {
    const { grains, audit } = this.#partition(context);
    const typeCounts: Record<string, number> = {};
    for (const { grainType } of grains.values()) typeCounts[grainType] = (typeCounts[grainType] ?? 0) + 1;
    const users = new Set([...grains.values()].flatMap((grain) => grain.fields['user_id'] ?? []));
    return {
      totalGrains: grains.size,
      diskSpaceBytes: 0,
      typeCounts,
      namespaces: [...new Set([...grains.values()].map((grain) => viewOf(grain).namespace))],
      userCount: users.size,
      supersededGrains: [...grains.values()].filter((grain) => grain.supersededBy !== undefined).length,
      auditEntries: audit,
      pendingWrites: 0,
      triples: 0,
      vectors: 0,
      purgePending: 0,
      indexLag: 0,
    };
  }

  #exportPage(context: CallContext, { after, limitBytes }: Input<'exportPage'>): Output<'exportPage'> {
    const rest = [...this.#partition(context).grains.values()].filter(({ ordinal }) => ordinal > after);
    const page: Grain[] = [];
    let bytes = 0;
    for (const grain of rest) {
      if (page.length > 0 && bytes >= limitBytes) break;
      page.push(grain);
      bytes += blobOf(grain).length;
    }
    return {
      grains: page.map((grain) => ({ hash: grain.hash, blob: Buffer.from(blobOf(grain)) })),
      last: page.at(-1)?.ordinal ?? after,
      done: page.length === rest.length,
    };
  }
}
