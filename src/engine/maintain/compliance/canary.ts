// Canaries: synthetic grains of synthetic users take the same path as all grains, and the run measures whether they are
// sealed, found, exported, erased and refused by rules. They live in temporary memories (momentary.ts) that are dropped
// afterwards.

import { createHmac } from 'node:crypto';
import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import type { CanaryEvidence, RuleProbe } from '../../calls/compliance.ts';
import type { CallContext } from '../../calls/context.ts';
import { THREAD_TAG } from '../../calls/session.ts';
import { BlindTokens, TERM_BYTES } from '../../crypto/blind-tokens.ts';
import { deriveBlindKey, deriveGrainKey } from '../../crypto/derive.ts';
import { KEY_BYTES, open } from '../../crypto/envelope.ts';
import { NONCE_BYTES, TAG_BYTES } from '../../crypto/gcm-batch.ts';
import { addressOf } from '../../grain/address.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';
import { openGrain } from '../../grain/codec/blob.ts';
import type { Sliced } from '../../index/files/section.ts';
import { explain } from '../../recall/stages/explain.ts';
import { TEXT_TERMS } from '../../recall/stages/hit.ts';
import type { GrainRecord } from '../../record/record.ts';
import { decodeRecord } from '../../record/record-codec.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { inSlices } from '../housekeeping/slices.ts';
import { compareNonces, grainRecord, isGrain } from './blobs.ts';
import type { CanaryServices } from './canary-services.ts';
import type { Door } from './door.ts';
import { searchIndexFiles } from './index-files.ts';
import { inMomentaryMemory } from './momentary.ts';
import { policyProbes, robustnessProbes } from './probes.ts';
import { caches, rowsLeadingTo, type Traced, waysIn } from './traces.ts';

export const CANARY_NAMESPACE = '__verify__';
/** Keys of other users that are tried on the remains of an erased user. */
const OTHER_KEYS_MAX = 500;

/** Runs the canaries of one run. When it resolves, only the tombstones of their keys remain. */
export async function runCanaries(
  services: CanaryServices,
  memory: Memory,
  { runId, requestId }: { readonly runId: string; readonly requestId: string },
): Promise<CanaryEvidence> {
  // At first without a policy, to test the engine whatever a policy forbids; and without vectors.
  const { policy: _, number: __, ...settings } = memory.settings;
  const plain = { ...settings, partitions: 1, dedup: 'exact' as const, vectorBackend: CANARY_NAMESPACE };
  const basics = await inMomentaryMemory(services, { settings: plain, requestId }, (context) =>
    new Basics(services, memory, context, runId).run(),
  );
  const ruled = memory.settings.policy === undefined ? plain : { ...plain, policy: memory.settings.policy };
  const probes = await inMomentaryMemory(services, { settings: ruled, requestId }, (context) =>
    policyProbes(services, memory, context, runId),
  );
  return { ...basics, ...probes };
}

type BasicEvidence = Omit<CanaryEvidence, 'writeRules' | 'deletionRules' | 'phiGate' | 'optOut' | 'recallLimit'>;

class Basics {
  readonly #store: Store;
  readonly #door: Door;
  readonly #elsewhere: Memory;
  readonly #context: CallContext;
  readonly #user: string;
  readonly #other: string;
  readonly #name: string;

  constructor({ store, door }: CanaryServices, elsewhere: Memory, context: CallContext, runId: string) {
    this.#store = store;
    this.#door = door;
    this.#elsewhere = elsewhere;
    this.#context = context;
    this.#user = `${CANARY_NAMESPACE}/${runId}`;
    this.#other = `${this.#user}/other`;
    this.#name = `canary-${runId}`;
  }

  get #memory(): Memory {
    return this.#store.memory(this.#context.memory);
  }

  async run(): Promise<BasicEvidence> {
    const user = { user_id: this.#user, namespace: CANARY_NAMESPACE };
    const own = [await this.#add(`${this.#name} likes`, user), await this.#add(`${this.#name} fears`, user)];
    const other = await this.#add(`${this.#name} other`, { user_id: this.#other, namespace: CANARY_NAMESPACE });
    const loose = await this.#add(`${this.#name} loose`, {});
    const scoped = await this.#add(`${this.#name} scoped`, { namespace: CANARY_NAMESPACE });
    const all = [...own, other, loose, scoped];
    await this.#addThread(user);
    const sealed = this.#sealedEvidence(all, own[0]!, other);
    const nonces = await inSlices(
      compareNonces(
        this.#store,
        all.map((hash) => this.#ordinalOf(hash)),
      ),
    );
    const tokens = this.#tokenEvidence(own[0]!);
    const recalled = this.#recallEvidence();
    const index = await this.#indexEvidence(own[0]!);
    const exportRoundTrip = await this.#roundTrip(scoped);
    await this.#door.write('consent', this.#context, {
      items: [{ userId: this.#user, purpose: 'storage', granted: true }],
    });
    const erased = await this.#erase(own);
    const robustness = await robustnessProbes(this.#door, this.#context, this.#name);
    const policy = await this.#policyEvidence();
    const accessRules = await this.#accessEvidence(scoped);
    const trail = await this.#trailEvidence(erased);
    const { fingerprint: _, entryHash: __, ...erasure } = erased;
    return {
      ...sealed,
      ...nonces,
      ...tokens,
      ...recalled,
      ...index,
      exportRoundTrip,
      ...erasure,
      robustness,
      accessRules,
      ...policy,
      ...trail,
    };
  }

  async #add(subject: string, more: JsonObject): Promise<string> {
    const fields = { subject, relation: `${this.#name} relation`, object: `${this.#name} object`, ...more };
    return (await this.#door.write('add', this.#context, { grainType: 'belief', fields, sync: false })).hash;
  }

  /** A chat thread of the canary with one message. */
  async #addThread(user: JsonObject): Promise<void> {
    const place = { ...user, session_id: this.#name };
    const items = [
      { grainType: 'state', fields: { ...place, data: { title: this.#name }, tags: [THREAD_TAG] } },
      { grainType: 'event', fields: { ...place, content: this.#name, role: 'user' } },
    ];
    await this.#door.write('addBatch', this.#context, { items });
  }

  /** The canary's thread and its messages, as reads return them. */
  #threadRows(): number {
    const { state } = this.#door.read('thread', this.#context, { threadId: this.#name });
    const filter = { sessionId: this.#name, grainTypes: ['event'] };
    const { total } = this.#door.read('list', this.#context, { filter, limit: 1, order: 'asc' });
    return (state === null ? 0 : 1) + total;
  }

  #ordinalOf(hash: string): number {
    return this.#store.findOrdinal(this.#context.memory, hash) ?? 0;
  }

  #recordOf(hash: string): GrainRecord {
    const record = grainRecord(this.#store, this.#ordinalOf(hash));
    if (record === undefined) throw new EngineError('STO-E001', 'a canary is not where it was put');
    return record;
  }

  /** How the canaries are stored in the log: sealed under three kinds of keys, and not readable under any other. */
  #sealedEvidence(all: readonly string[], own: string, other: string) {
    const records = all.map((hash) => this.#recordOf(hash));
    const [mine, theirs] = [this.#recordOf(own), this.#recordOf(other)];
    const doctored = [0, NONCE_BYTES, mine.sealed.length - TAG_BYTES].map((at) => flipped(mine.sealed, at));
    const memory = this.#memory;
    // Both have the same scope key. The user's key makes the difference.
    const keyOf = ({ scopeKey }: GrainRecord, whose: GrainRecord) => memory.grainKey(whose.key, scopeKey);
    return {
      roundTripsWanted: all.length,
      roundTrips: all.filter((hash) => this.#comesBack(hash)).length,
      envelopesWanted: all.length,
      envelopes: records.filter(({ sealed }) => !isGrain(sealed)).length,
      tampered: doctored.length,
      tamperedOpened: doctored.filter((sealed) => opens(() => open(keyOf(mine, mine), sealed, mine.bound))).length,
      crossed: 2,
      crossedOpened: [
        opens(() => open(keyOf(theirs, mine), theirs.sealed, theirs.bound)),
        opens(() => open(keyOf(mine, theirs), mine.sealed, mine.bound)),
      ].filter((opened) => opened).length,
    };
  }

  #comesBack(hash: string): boolean {
    const blob = Buffer.from(this.#door.read('getRaw', this.#context, { hash }).blob);
    const { subject } = openGrain(blob).fields;
    return addressOf(blob) === hash && typeof subject === 'string' && subject.startsWith(this.#name);
  }

  #tokenEvidence(own: string) {
    const { tokens, keyIds } = this.#memory;
    const value = `${this.#name} likes`;
    const token = tokens.facet('entity', value);
    const raw = this.#store.keys.get(keyIds.token);
    const hmac = createHmac('sha256', deriveBlindKey(raw, 'entity')).update(value.normalize('NFC')).digest();
    return {
      tokenTwice: token.equals(new BlindTokens(raw).facet('entity', value)),
      tokenIsHmac: raw.length === KEY_BYTES && hmac.subarray(0, token.length).equals(token),
      nameTokenBytes: token.length,
      wordTokenBytes: TERM_BYTES,
      tokenDiffersElsewhere: !token.equals(this.#elsewhere.tokens.facet('entity', value)),
      foundByValue: this.#listed(value).includes(own),
      strangerFound: this.#listed(`${value} nothing`).length > 0,
    };
  }

  /** Hashes of grains with this subject. */
  #listed(subject: string): readonly string[] {
    const { grains } = this.#door.read('list', this.#context, { filter: { subject }, limit: 10, order: 'asc' });
    return grains.map(({ hash }) => hash);
  }

  #recallEvidence(): Pick<CanaryEvidence, 'scoreParts' | 'explainedParts' | 'explanation'> {
    const query = { query: this.#name, filter: {}, structural: false, limit: 5, candidateLimit: 50 };
    // Recalled as by a caller, so that the trail records it.
    const caller = { ...this.#context, actor: CANARY_NAMESPACE };
    const [hit] = this.#door.read('recall', caller, { ...query, record: { asked: true } }).hits;
    if (hit === undefined) return { scoreParts: [], explainedParts: [], explanation: '' };
    const { score, breakdown } = hit;
    const terms = Object.fromEntries(TEXT_TERMS.map((term) => [term, breakdown[term]]));
    const explanation = explain({
      score,
      breakdown: { base: breakdown.final, terms, changes: {} },
      recallSource: 'primary',
    });
    const scoreParts = TEXT_TERMS.filter((term) => breakdown[term] !== 0);
    return {
      scoreParts,
      explainedParts: scoreParts.filter((term) => explanation.includes(`${breakdown[term].toFixed(3)} for `)),
      explanation,
    };
  }

  /** The tail is sealed first, so that the search covers files on disk. */
  async #indexEvidence(own: string) {
    await this.#door.write('flush', this.#context, {});
    const names = ['likes', 'relation', 'object'].map((word) => `${this.#name} ${word}`);
    const { bytesSearched, found } = await inSlices(searchIndexFiles(this.#store, [...names, this.#user]));
    const foundSealed = this.#listed(`${this.#name} likes`).includes(own);
    return { indexBytes: bytesSearched, indexNamesFound: found, foundSealed };
  }

  /** Exports, forgets and imports a grain. True when it is the same grain again. */
  async #roundTrip(hash: string): Promise<boolean> {
    const page = await this.#door.write('exportPage', this.#context, { after: 0, limitBytes: 1 << 20, filter: {} });
    const exported = page.grains.find((grain) => grain.hash === hash);
    if (exported === undefined) return false;
    await this.#door.write('forget', { ...this.#context, reason: 'canary' }, { hashes: [hash], check: false });
    const { outcomes } = await this.#door.write('importBlobs', this.#context, { blobs: [exported.blob], manifest: [] });
    const [outcome] = outcomes;
    return outcome !== undefined && 'hash' in outcome && outcome.hash === hash && this.#comesBack(hash);
  }

  async #erase(own: readonly string[]) {
    const copies = own.map((hash) => this.#recordOf(hash));
    const { key } = copies[0]!;
    const traced: Traced = { user: this.#user, subject: `${this.#name} likes`, word: this.#name, hashes: own, key };
    const before = await this.#traces(traced);
    const proof = await this.#door.write('eraseUser', this.#context, { userId: this.#user });
    const again = await this.#door.write('eraseUser', this.#context, { userId: this.#user });
    const tombstone = this.#store.keys.tombstone(key);
    const keys = this.#remainingKeys();
    const after = await this.#traces(traced);
    return {
      fingerprint: proof.keyFingerprint,
      entryHash: proof.auditEntryHash,
      proof:
        proof.userId === this.#user &&
        proof.count >= own.length &&
        proof.timestamp > 0 &&
        /^[0-9a-f]{16}$/.test(proof.keyFingerprint) &&
        tombstone?.fingerprint === proof.keyFingerprint,
      proofRepeats:
        again.count === 0 &&
        again.keyFingerprint === proof.keyFingerprint &&
        again.auditEntryHash === proof.auditEntryHash,
      keyGone: this.#store.keys.state(key) === 'destroyed',
      keysTried: keys.length,
      keysOpened: await inSlices(this.#keysThatOpen(keys, copies)),
      readsTried: Object.keys(before.ways).length,
      silentBefore: named(before.ways, false),
      servedBy: named(after.ways, true),
      cachesTried: Object.keys(before.caches).length,
      cachesEmptyBefore: named(before.caches, false),
      cachesLeft: named(after.caches, true),
      rowsBefore: before.rows,
      grainsLeft: after.rows,
      threadsBefore: before.threads,
      threadsLeft: after.threads,
    };
  }

  async #traces(traced: Traced) {
    const { memory } = this.#context;
    return {
      // Checked first, because a read path may fill a cache.
      ways: await waysIn(this.#door, this.#context, traced),
      caches: caches(this.#store, memory, traced),
      rows: rowsLeadingTo(this.#store, memory, traced),
      threads: this.#threadRows(),
    };
  }

  /** Live keys: the canaries' own, and those of the memory under test. */
  #remainingKeys(): Buffer[] {
    const ids = [this.#memory, this.#elsewhere].flatMap((memory) => [
      ...Object.values(memory.keyIds),
      ...this.#namedKeys(memory, 'scopeKey'),
      ...this.#namedKeys(memory, 'userKey'),
    ]);
    return [...new Set(ids)].flatMap((id) => {
      try {
        return [this.#store.keys.get(id)];
      } catch {
        return [];
      }
    });
  }

  /** The newest keys, live or not. */
  #namedKeys({ number }: Memory, kind: 'userKey' | 'scopeKey'): number[] {
    return this.#store
      .allKeyed(number, kind)
      .slice(-OTHER_KEYS_MAX)
      .flatMap((sequence) => {
        const bytes = this.#store.log.read(sequence);
        const record = bytes === undefined ? undefined : decodeRecord(bytes);
        return record?.kind === 'key' ? [record.key] : [];
      });
  }

  *#keysThatOpen(keys: readonly Buffer[], copies: readonly GrainRecord[]): Sliced<number> {
    let opened = 0;
    for (const raw of keys) {
      if (copies.some((copy) => this.#opensWith(raw, copy))) opened += 1;
      yield;
    }
    return opened;
  }

  #opensWith(raw: Buffer, copy: GrainRecord): boolean {
    const salts = [Buffer.alloc(0), ...(copy.scopeKey === 0 ? [] : [this.#store.keys.get(copy.scopeKey)])];
    const keys = [raw, ...salts.map((salt) => deriveGrainKey(raw, salt))];
    return keys.some((key) => opens(() => open(key, copy.sealed, copy.bound)));
  }

  /** Seals a policy and reverts it: two linked versions, both audited. */
  async #policyEvidence() {
    const change = (wanted: object) =>
      this.#door.write('setPolicy', this.#context, { change: { reason: 'canary', ...wanted }, isAdmin: true });
    const first = (await change({ addPolicies: ['strict_deletion'] })).policy;
    const second = (await change({ removePolicies: ['strict_deletion'] })).policy;
    const entries = await this.#entries(['policy.*']);
    const policyEvents = entries.map(({ eventType, details }) => `${eventType}/${details['version']}`);
    return {
      policyChainIntact: second['prev_seal_hash'] === first['seal_hash'] && second['seal_hash'] !== first['seal_hash'],
      policyAudited: ['policy.sealed/1', 'policy.upgraded/1', 'policy.sealed/2', 'policy.downgraded/2'].every((entry) =>
        policyEvents.includes(entry),
      ),
    };
  }

  /** The grains that a principal without a tuple gets, once tuples decide. */
  async #accessEvidence(hash: string): Promise<readonly RuleProbe[]> {
    const change = { overrides: { 'access.authz_required': true } };
    await this.#door.write('setPolicy', this.#context, { change, isAdmin: true });
    const stranger: CallContext = { ...this.#context, actor: `agent:${this.#name}` };
    const fields = { subject: this.#name, relation: 'tries', object: 'a write' };
    const acts: Readonly<Record<string, () => unknown>> = {
      get: () => this.#door.read('get', stranger, { hash }),
      add: () => this.#door.write('add', stranger, { grainType: 'belief', fields, sync: false }),
      forget: () => this.#door.write('forget', stranger, { hashes: [hash], check: true }),
      audit: () => this.#door.write('auditPage', stranger, { filter: {}, limit: 1, order: 'asc' }),
    };
    const probes: RuleProbe[] = [];
    for (const [rule, act] of Object.entries(acts))
      probes.push({ rule: `${rule} without a tuple`, wanted: ['AUT-E001'], got: await codeOf(act) });
    const { grains } = this.#door.read('list', stranger, { filter: {}, limit: 10, order: 'asc' });
    return [...probes, { rule: 'list without a tuple', wanted: [], got: grains.length === 0 ? '' : 'grains' }];
  }

  async #entries(events: readonly string[] | undefined) {
    const filter = defined({ events });
    const page = await this.#door.write('auditPage', this.#context, { filter, limit: 500, order: 'asc' });
    return page.entries;
  }

  async #trailEvidence(of: { readonly fingerprint: string; readonly entryHash: string | undefined }) {
    const { fingerprint, entryHash } = of;
    const entries = await this.#entries(undefined);
    const check = await this.#door.write('verifyAudit', this.#context, {});
    return {
      audited: [...new Set(entries.map(({ eventType }) => eventType))],
      chainValid: check.valid && check.checked >= entries.length,
      proofEntry: entries.some(({ eventType, hash }) => eventType === 'user.erased' && hash === entryHash),
      keyEntry: entries.some(
        ({ eventType, details }) => eventType === 'key.destroyed' && details['key_fingerprint'] === fingerprint,
      ),
    };
  }
}

/** The code that an act is refused with; '' if it succeeds. */
async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return '';
  } catch (error) {
    if (error instanceof EngineError) return error.code;
    throw error;
  }
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ 1;
  return copy;
}

function opens(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

function named(answers: Readonly<Record<string, boolean>>, wanted: boolean): readonly string[] {
  return Object.entries(answers).flatMap(([name, answer]) => (answer === wanted ? [name] : []));
}
