// The rules of a memory as one shard knows them: its policy, restricted users, consents, access tuples. Created at the first use of
// the memory and changed in place when a change is published.
import { CONSENT_ORDERS_MAX, CONSENTS_CACHED_MAX } from '../base/limits.ts';
import type { Access, AccessView } from './access/access.ts';
import { type Caller, isExempt, principalOf, subjectOf } from './access/caller.ts';
import type { GrainRelation, Tuple } from './access/tuple.ts';
import type { Agents } from './agents/agents.ts';
import {
  type ConsentFact,
  ConsentOrder,
  type ConsentStatus,
  type Consents,
  EVERY_PURPOSE,
  laterOf,
  latestMs,
  markOf,
  statusOf,
} from './consent/consent.ts';
import { keepsForever } from './policy/retention.ts';
import type { Rules } from './policy/rules.ts';
import type { SealedPolicy } from './policy/seal.ts';

/** The freeze of a person's data (Art. 18 GDPR). */
export interface Restriction {
  readonly userId: string;
  readonly reason: string;
  readonly atMs: number;
  readonly by: string;
}

/** The source from which the rules are loaded. */
export interface GovernedSource {
  consent(userId: string, purpose: string): ConsentFact | undefined;
  /** Consents of one user, or of every user, in any order. */
  consents(userId?: string): Iterable<ConsentFact>;
}

/** Facts that are read from the source, and what changed meanwhile. */
interface Loading {
  readonly facts: Map<string, Map<string, ConsentFact>>;
  readonly source: Iterator<ConsentFact, unknown>;
  readonly forgotten: Set<string>;
}

interface Ordered {
  readonly order: ConsentOrder;
  /** False while users are entered. */
  isWhole: boolean;
}

/** A mark lies below. */
const MARKS = 2 ** 48;

interface Withdrawn {
  readonly users: readonly string[];
  /** Milliseconds. */
  readonly untilMs: number;
}

/** The view of a caller to whom nothing was granted and nothing can be. */
const NOTHING_GRANTED: AccessView = { key: '', hasAll: false, has: () => false };

export class Governed {
  /** The memory's access tuples. They count only where the policy requires them: see `viewFor`. */
  readonly access: Access;
  /** Knows which of the memory's agents may still write. */
  readonly agents: Agents;
  #policy: SealedPolicy;
  readonly #restrictions: Map<string, Restriction>;
  readonly #source: GovernedSource;
  /** Cached consent facts by `consentKey`; null when there is none. The oldest are dropped first. */
  readonly #known = new Map<string, ConsentFact | null>();
  /** By user. Built when reads depend on consent, or when it is listed. */
  #all: Map<string, Map<string, ConsentFact>> | undefined;
  /** The same while it is built. */
  #loading: Loading | undefined;
  /** The sum of the marks of all facts, modulo MARKS. */
  #mark = 0;
  /** Users by the time of their latest consent: to any purpose, or to one. The one that was asked for last is the last one. */
  readonly #orders = new Map<string | undefined, Ordered>();
  /** The last answer of `withdrawn`: every part of the memory asks for the same. */
  #withdrawn:
    | { readonly purpose: string; readonly stamp: number; readonly fromMs: number; readonly answer: Withdrawn }
    | undefined;
  #stamp = 0;
  /** The last answer of `viewFor`: a recall asks for the same view for each part and hit. */
  #lastView:
    | {
        readonly principal: string;
        readonly relation: GrainRelation;
        readonly stamp: number;
        readonly view: AccessView | undefined;
      }
    | undefined;
  #writesFreely = false;
  #hidesNothing = false;

  constructor(
    policy: SealedPolicy,
    restrictions: Iterable<Restriction>,
    source: GovernedSource & { readonly access: Access; readonly agents: Agents },
  ) {
    this.access = source.access;
    this.agents = source.agents;
    this.#policy = policy;
    this.#restrictions = new Map([...restrictions].map((restriction) => [restriction.userId, restriction]));
    this.#source = source;
    this.#changed();
  }

  get policy(): SealedPolicy {
    return this.#policy;
  }

  get rules(): Rules {
    return this.#policy.rules;
  }

  /** A number that changes with every change of the rules. */
  get stamp(): number {
    return this.#stamp;
  }

  /** True when no added grain could be refused or changed. */
  get writesFreely(): boolean {
    return this.#writesFreely;
  }

  /**
   * True when no policy and no restriction hides a grain from every reader. A grain's own `expires_at` still may, and
   * access tuples may hide it from some: see `hidesNothingFrom`.
   */
  get hidesNothing(): boolean {
    return this.#hidesNothing;
  }

  /** True when nothing hides a grain from this caller, but for the grain's own `expires_at`. */
  hidesNothingFrom(caller: Caller): boolean {
    return this.#hidesNothing && this.viewFor(caller, 'viewer') === undefined;
  }

  /** True when access tuples decide about this caller. */
  decidesAccess(caller: Caller): boolean {
    return this.rules['access.authz_required'] && !isExempt(caller);
  }

  /** The namespaces in which the caller has the relation to grains; undefined if nothing narrows it. */
  viewFor(caller: Caller, relation: GrainRelation): AccessView | undefined {
    if (!this.decidesAccess(caller)) return undefined;
    const principal = principalOf(caller);
    const last = this.#lastView;
    if (last?.principal === principal && last.relation === relation && last.stamp === this.#stamp) return last.view;
    const subject = subjectOf(caller);
    const found = subject === undefined ? NOTHING_GRANTED : this.access.view(subject, relation);
    const view = found.hasAll ? undefined : found;
    this.#lastView = { principal, relation, stamp: this.#stamp, view };
    return view;
  }

  get restrictions(): ReadonlyMap<string, Restriction> {
    return this.#restrictions;
  }

  isRestricted(userId: string | undefined): boolean {
    return userId !== undefined && this.#restrictions.size > 0 && this.#restrictions.has(userId);
  }

  /** The fact for exactly this purpose. */
  consent(userId: string, purpose: string): ConsentFact | undefined {
    const key = consentKey(userId, purpose);
    const known = this.#known.get(key);
    if (known !== undefined) return known ?? undefined;
    const fact = this.#source.consent(userId, purpose);
    this.#remember(key, fact ?? null);
    return fact;
  }

  /** Whether a user consents to a purpose now, by the fact for it or for every purpose. */
  consentStatus(userId: string, purpose: string, nowMs: number): ConsentStatus {
    const specific = this.consent(userId, purpose);
    const general = purpose === EVERY_PURPOSE ? specific : this.consent(userId, EVERY_PURPOSE);
    return statusOf(laterOf(specific, general), nowMs);
  }

  isGranted(userId: string, purpose: string, nowMs: number): boolean {
    return this.consentStatus(userId, purpose, nowMs) === 'granted';
  }

  /**
   * Users whose grains are hidden from reads for `purpose`: those who withdrew or whose grant has expired. With the
   * time, in milliseconds, until which this list is valid.
   */
  withdrawn(purpose: string, nowMs: number): Withdrawn {
    const last = this.#withdrawn;
    if (last?.purpose === purpose && last.stamp === this.#stamp && last.fromMs <= nowMs && nowMs < last.answer.untilMs)
      return last.answer;
    const users: string[] = [];
    let untilMs = Number.POSITIVE_INFINITY;
    for (const [userId, facts] of this.allConsents()) {
      const fact = laterOf(facts.get(purpose), facts.get(EVERY_PURPOSE));
      if (fact === undefined) continue;
      if (statusOf(fact, nowMs) !== 'granted') users.push(userId);
      else if (fact.expiresAtMs !== undefined) untilMs = Math.min(untilMs, fact.expiresAtMs);
    }
    const withdrawn = { users, untilMs };
    this.#withdrawn = { purpose, stamp: this.#stamp, fromMs: nowMs, answer: withdrawn };
    return withdrawn;
  }

  /** The facts of one user for all purposes, in any order. */
  consentsOfUser(userId: string): Iterable<ConsentFact> {
    return this.#all?.get(userId)?.values() ?? this.#source.consents(userId);
  }

  /** Every user with a consent, with the facts by purpose. Cached from then on. */
  allConsents(): Consents {
    const steps = this.loadConsents();
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /** The same, with a pause after each fact that it reads. */
  *loadConsents(): Generator<void, Consents, void> {
    while (this.#all === undefined) {
      this.#loading ??= { facts: new Map(), source: this.#source.consents()[Symbol.iterator](), forgotten: new Set() };
      const { facts, forgotten } = this.#loading;
      const step = this.#readNext(this.#loading);
      if (step.done === true) {
        this.#all = facts;
        this.#loading = undefined;
        break;
      }
      // A fact that is there came later, and what was read of a user may be older than the user's erasure.
      const { userId, purpose } = step.value;
      if (!forgotten.has(userId) && facts.get(userId)?.has(purpose) !== true) this.#place(facts, step.value);
      yield;
    }
    return this.#all;
  }

  /** A source that has failed is read again from its start. */
  #readNext({ source }: Loading): IteratorResult<ConsentFact, unknown> {
    try {
      return source.next();
    } catch (error) {
      this.#loading = undefined;
      this.#mark = 0;
      throw error;
    }
  }

  /**
   * Users with a consent by the time of their latest one; with a purpose, those with one to it or to every purpose. Cached
   * from then on. Pauses after each fact or user that it reads.
   */
  *consentOrder(purpose: string | undefined): Generator<void, ConsentOrder, void> {
    const all = yield* this.loadConsents();
    const ordered = this.#orders.get(purpose) ?? { order: new ConsentOrder(), isWhole: false };
    this.#orders.delete(purpose);
    this.#orders.set(purpose, ordered);
    for (const [oldest, { isWhole }] of this.#orders) {
      if (this.#orders.size <= CONSENT_ORDERS_MAX) break;
      if (isWhole) this.#orders.delete(oldest);
    }
    if (ordered.isWhole) return ordered.order;
    // Users that come meanwhile are placed by `setConsent`.
    for (const userId of [...all.keys()]) {
      const timeMs = latestMs(all.get(userId), purpose);
      if (timeMs !== undefined) ordered.order.add({ timeMs, id: userId });
      yield;
    }
    ordered.isWhole = true;
    return ordered.order;
  }

  /** Equal in two shards of a memory whose facts are equal. Only once all consents are loaded. */
  get consentsMark(): number {
    return this.#mark;
  }

  setPolicy(policy: SealedPolicy): void {
    this.#policy = policy;
    this.#changed();
  }

  restrict(restriction: Restriction): void {
    this.#restrictions.set(restriction.userId, restriction);
    this.#changed();
  }

  lift(userId: string): void {
    this.#restrictions.delete(userId);
    this.#changed();
  }

  setConsent(fact: ConsentFact): void {
    this.#remember(consentKey(fact.userId, fact.purpose), fact);
    const facts = this.#all ?? this.#loading?.facts;
    if (facts !== undefined) this.#place(facts, fact);
    this.#changed();
  }

  /** This tuple was granted or revoked; without one, several were. */
  setAccess(tuple?: Tuple): void {
    this.access.changed(tuple);
    this.#changed();
  }

  /** Drops all facts about the user. */
  forgetUser(userId: string): void {
    this.#restrictions.delete(userId);
    for (const key of [...this.#known.keys()]) if (key.startsWith(consentKey(userId, ''))) this.#known.delete(key);
    this.#loading?.forgotten.add(userId);
    const facts = this.#all ?? this.#loading?.facts;
    for (const fact of facts?.get(userId)?.values() ?? []) this.#addMark(-markOf(fact));
    this.#move(userId, () => facts?.delete(userId));
    this.setAccess();
  }

  #remember(key: string, fact: ConsentFact | null): void {
    this.#known.delete(key);
    if (this.#known.size >= CONSENTS_CACHED_MAX) this.#known.delete(this.#known.keys().next().value as string); // it is not empty
    this.#known.set(key, fact);
  }

  #place(facts: Map<string, Map<string, ConsentFact>>, fact: ConsentFact): void {
    const { userId, purpose } = fact;
    const ofUser = facts.get(userId) ?? new Map<string, ConsentFact>();
    const before = ofUser.get(purpose);
    this.#addMark(markOf(fact) - (before === undefined ? 0 : markOf(before)));
    this.#move(userId, () => facts.set(userId, ofUser.set(purpose, fact)));
  }

  #addMark(mark: number): void {
    this.#mark = (this.#mark + mark + MARKS) % MARKS;
  }

  /** Changes the facts of a user, and with them the user's place in each order. */
  #move(userId: string, change: () => unknown): void {
    const before = [...this.#orders.keys()].map((purpose) => latestMs(this.#all?.get(userId), purpose));
    change();
    for (const [at, [purpose, { order }]] of [...this.#orders].entries()) {
      const fromMs = before[at];
      const toMs = latestMs(this.#all?.get(userId), purpose);
      if (fromMs === toMs) continue;
      if (fromMs !== undefined) order.remove({ timeMs: fromMs, id: userId });
      if (toMs !== undefined) order.add({ timeMs: toMs, id: userId });
    }
  }

  #changed(): void {
    const { rules } = this;
    this.#stamp += 1;
    this.#writesFreely =
      this.#restrictions.size === 0 &&
      rules['consent.mode'] === 'none' &&
      !rules['consent.sensitive_separate'] &&
      rules['pii.write_action'] === 'allow' &&
      !rules['write.user_id_required'] &&
      !rules['residency.enforce'] &&
      rules['guardrail.patterns'].length === 0;
    this.#hidesNothing = this.#restrictions.size === 0 && !rules['consent.on_read'] && keepsForever(rules);
  }
}

function consentKey(userId: string, purpose: string): string {
  return `${userId}\u0000${purpose}`;
}
