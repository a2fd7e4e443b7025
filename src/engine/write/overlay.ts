// The changes that a group makes to one memory. Plans of later requests of the group read them before the committed
// state, as if they had been written.
import { NO_DOCS, PrefixTable } from '../index/address/tail.ts';
import type { Ordinal } from '../index/parts/part.ts';
import type { Sequence } from '../log/log.ts';
import type { Conversation } from '../store/turns.ts';
import type { Turn } from '../turn/turn.ts';
import { type ActingAgent, AgentActs } from './agent-acts.ts';
import { AuditDrafts } from './audit-drafts.ts';
import type { KeyedGrains, PlannedGrain } from './keyed-grains.ts';
import type { StoredReply } from './stored-reply.ts';

/** Grains that are not worth a table. */
const FEW_GRAINS = 8;

/** The changes of one group to one memory. */
export class Overlay {
  /** In the order of their ordinals. */
  readonly #grains: PlannedGrain[] = [];
  /** The first `#indexed` of them by address and by identity. */
  #addresses: PrefixTable | undefined;
  #identities: PrefixTable | undefined;
  #indexed = 0;
  readonly supersededBy = new Map<Ordinal, { readonly ordinal: Ordinal }>();
  readonly predecessorOf = new Map<Ordinal, Ordinal>();
  /** Lengths of the chains that this group makes longer, by their newest version. */
  readonly chainDepths = new Map<Ordinal, number>();
  readonly userKeys = new Map<string, number>();
  readonly scopeKeys = new Map<string, number>();
  /** The granted grains by their keys: of a user (undefined: of nobody) and a namespace. */
  readonly keyed = new Map<string | undefined, Map<string, KeyedGrains>>();
  readonly replies = new Map<string, StoredReply>();
  /** Names of further sources, by the known grain. */
  readonly furtherSources = new Map<Ordinal, string[]>();
  /** Records of further sources that this group removes. */
  readonly droppedSources = new Set<Sequence>();
  /** Access tuples that this group grants, by their state entry; null for revoked ones. */
  readonly tuples = new Map<string, Sequence | null>();
  /** The number of tuples after the changes of this group; undefined before the first. */
  tupleCount: number | undefined;
  /** How many usersets this group adds to a relation of an object, by both. */
  readonly usersets = new Map<string, number>();
  /** Turns of harnesses after the changes of this group, by their state entries. */
  readonly turns = new Map<string, Turn>();
  /** Conversations of harnesses after the changes of this group, by their state entries. */
  readonly talks = new Map<string, Conversation>();
  /** Acts of agents in this group, by their tokens. */
  readonly acts = new Map<string, AgentActs>();
  /** Agents without an identity after this group; undefined before the first new one. */
  agentsSeen: number | undefined;
  /** Tokens of the agents that this group removes. */
  readonly droppedAgents = new Set<string>();
  /** Entries that this group adds to the memory's audit chain. */
  readonly audit = new AuditDrafts();

  /** Adds a granted grain. */
  addGrain(planned: PlannedGrain): void {
    this.#grains.push(planned);
  }

  /** The grain of this group with that address. */
  withAddress(address: string): PlannedGrain | undefined {
    this.#index();
    const docs = this.#addresses?.docs(0, address) ?? NO_DOCS;
    for (let i = docs.length - 1; i >= 0; i--) {
      const planned = this.#grains[docs[i]!]!;
      if (planned.prepared.address === address) return planned;
    }
    for (let i = this.#indexed; i < this.#grains.length; i++)
      if (this.#grains[i]!.prepared.address === address) return this.#grains[i];
    return undefined;
  }

  /** The newest grain of this group with that identity, which is as long as a prefix. */
  withIdentity(identity: string): PlannedGrain | undefined {
    this.#index();
    for (let i = this.#grains.length - 1; i >= this.#indexed; i--)
      if (this.#grains[i]!.prepared.indexed.identity === identity) return this.#grains[i];
    const docs = this.#identities?.docs(0, identity) ?? NO_DOCS;
    return docs.length === 0 ? undefined : this.#grains[docs[docs.length - 1]!];
  }

  /** Enters the grains once there are many: a few are compared one by one, and two maps would cost more than they. */
  #index(): void {
    if (this.#grains.length - this.#indexed <= FEW_GRAINS) return;
    this.#addresses ??= new PrefixTable();
    this.#identities ??= new PrefixTable();
    for (; this.#indexed < this.#grains.length; this.#indexed++) {
      const { address, indexed } = this.#grains[this.#indexed]!.prepared;
      this.#addresses.add(0, address, this.#indexed);
      if (indexed.identity !== undefined) this.#identities.add(0, indexed.identity, this.#indexed);
    }
  }

  /** The grain of this group with that ordinal. */
  at(ordinal: Ordinal): PlannedGrain | undefined {
    let low = 0;
    let high = this.#grains.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#grains[middle]!.ordinal < ordinal) low = middle + 1;
      else high = middle;
    }
    const found = this.#grains[low];
    return found?.ordinal === ordinal ? found : undefined;
  }

  /** The grains of a user and a namespace; undefined before the first. */
  keyedGrains(userId: string | undefined, namespace: string): KeyedGrains | undefined {
    return this.keyed.get(userId)?.get(namespace);
  }

  /** Keeps the grains of a user and a namespace, without any at first. */
  startKeyed(userId: string | undefined, namespace: string, grains: KeyedGrains): KeyedGrains {
    const ofUser = this.keyed.get(userId);
    if (ofUser === undefined) this.keyed.set(userId, new Map([[namespace, grains]]));
    else ofUser.set(namespace, grains);
    return grains;
  }

  /** Grains of this group with that subject and relation, in order. */
  grainsWith(subject: string, relation: string): PlannedGrain[] {
    const planned: PlannedGrain[] = [];
    for (const grain of this.#grains) {
      const { indexed } = grain.prepared;
      if (indexed.subject === subject && indexed.relation === relation) planned.push(grain);
    }
    return planned;
  }

  /** The acts of an agent, to note one more. The group counts them when it is closed. */
  actsOf(agent: ActingAgent): AgentActs {
    const known = this.acts.get(agent.token);
    if (known !== undefined) return known;
    const made = new AgentActs(agent);
    this.acts.set(agent.token, made);
    return made;
  }
}
