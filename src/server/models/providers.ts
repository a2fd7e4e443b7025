// The providers of the deployment and the models of its roles. The start options give the first values. Values that an
// administrator sets while the server runs are kept in the control log and win.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { PROVIDERS_MAX } from '../../engine/base/limits.ts';
import type { JsonObject } from '../../shards/protocol.ts';
import type { Change } from '../control/group.ts';
import type { ControlChanges } from '../control/reading.ts';
import type { ProviderRecord } from '../control/records.ts';
import { type Assignment, ECHO, OWN_MODELS, type Provider, type ProviderKind, ROLES, type Role } from './roles.ts';
import { START_IDS, type StartModels } from './start-models.ts';

/** The part of the providers that the language models need. */
export interface Choosing {
  /** The provider and model for a call. Throws LLM-E001, LLM-E003. */
  choose(
    role: Role,
    override?: { readonly provider?: string | undefined; readonly model?: string | undefined },
  ): Chosen;
  /** The provider with this id. Throws LLM-E003 when there is none, LLM-E001 when it is switched off. */
  callable(id: string): Provider;
  /** True when the role has a model that can be called. */
  has(role: Role): boolean;
}

export interface Chosen extends ChatSettings {
  readonly provider: Provider;
  readonly model: string;
}

/** Settings of the role chat. */
export interface ChatSettings {
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** False: no model answers in chats. Absent: true. */
  readonly enabled?: boolean | undefined;
}

/** A role's model; null: none, whatever the start named. */
export type Assignments = Readonly<Record<Role, Assignment | null>>;

export interface WantedProvider {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  /** Absent: the key that it has stays. */
  readonly apiKey?: string | undefined;
  readonly region?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** Earlier models for embeddings that are kept: memories that are embedded anew in between have vectors of them. */
const EARLIER_MAX = 4;

/** The setting of the control log that holds what was set while the server ran. */
const SETTING = 'models';

/** Its value. A role that was never set is absent: it follows the start. */
interface Kept {
  readonly assignments: Readonly<Partial<Record<Role, Assignment | null>>>;
  readonly chat: ChatSettings;
  /** Models that the role embedding had, the newest first. Absent: none. */
  readonly earlierEmbedding?: readonly Assignment[] | undefined;
}

export class Providers implements Choosing {
  readonly #control: ControlChanges;
  readonly #start: StartModels;
  readonly #nowMs: () => number;
  /** Views of the records: one object as long as a record stands. */
  readonly #views = new WeakMap<ProviderRecord, Provider>();

  constructor(parts: { readonly control: ControlChanges; readonly start: StartModels; readonly nowMs: () => number }) {
    this.#control = parts.control;
    this.#start = parts.start;
    this.#nowMs = parts.nowMs;
  }

  /** All providers, those of the start first, then by id. */
  list(): readonly Provider[] {
    const made = [...this.#control.values('provider')].map((record) => this.#viewOf(record));
    return [...this.#start.providers, ...made.sort((one, other) => (one.id < other.id ? -1 : 1))];
  }

  find(id: string): Provider | undefined {
    const record = this.#control.get('provider', id);
    return record === undefined ? this.#start.providers.find((one) => one.id === id) : this.#viewOf(record);
  }

  /** LLM-E003 when there is none. */
  get(id: string): Provider {
    const found = this.find(id);
    if (found === undefined) throw new EngineError('LLM-E003', `there is no provider ${JSON.stringify(id)}`);
    return found;
  }

  callable(id: string): Provider {
    const provider = this.get(id);
    if (!provider.enabled)
      throw new EngineError(
        'LLM-E001',
        `the provider ${id} is switched off: an admin can switch it on (granary providers set)`,
      );
    return provider;
  }

  #viewOf(record: ProviderRecord): Provider {
    const { id, kind, baseUrl, apiKey, region, enabled } = record;
    let view = this.#views.get(record);
    if (view === undefined) {
      view = { id, kind, baseUrl, apiKey, region, enabled, readOnly: false };
      this.#views.set(record, view);
    }
    return view;
  }

  /** The roles' models now. */
  assignments(): Assignments {
    return Object.fromEntries(ROLES.map((role) => [role, this.assignmentOf(role)])) as unknown as Assignments; // every role has its member
  }

  assignmentOf(role: Role): Assignment | null {
    const set = this.#kept().assignments[role];
    return set === undefined ? (this.#start.assignments[role] ?? null) : set;
  }

  has(role: Role): boolean {
    const assigned = this.assignmentOf(role);
    if (assigned === null || (role === 'chat' && this.chat.enabled === false)) return false;
    return this.find(assigned.provider)?.enabled === true;
  }

  /** True when an administrator set the role's model; false when it follows the start. */
  isSet(role: Role): boolean {
    return this.#kept().assignments[role] !== undefined;
  }

  get chat(): ChatSettings {
    return this.#kept().chat;
  }

  choose(
    role: Role,
    override: { readonly provider?: string | undefined; readonly model?: string | undefined } = {},
  ): Chosen {
    const settings = role === 'chat' ? this.chat : {};
    const assigned = this.assignmentOf(role);
    const id = override.provider ?? assigned?.provider;
    if (settings.enabled === false) throw new EngineError('LLM-E001', 'chat is switched off in the settings');
    if (id === undefined)
      throw new EngineError(
        'LLM-E001',
        `no model is assigned to the role ${role}: an admin can assign one (granary models assign)`,
      );
    const provider = this.callable(id);
    const model = override.model ?? (assigned?.provider === id ? assigned.model : undefined);
    if (model === undefined)
      throw new EngineError('LLM-E003', `name a \`model\` of the provider ${id}`, {
        details: [{ field: 'model', issue: 'required' }],
      });
    checkModel(provider, model);
    return { provider, model, temperature: settings.temperature, maxTokens: settings.maxTokens };
  }

  /** Makes or replaces a provider. AUT-E006 for one of the start, LIM-E002. Resolves to whether it is new. */
  async put(wanted: WantedProvider, actor: string): Promise<{ readonly provider: Provider; readonly isNew: boolean }> {
    const { id } = wanted;
    return this.#control.commit((change) => {
      this.#refuseStart(id);
      const before = this.#control.get('provider', id);
      if (before === undefined && this.#control.count('provider') >= PROVIDERS_MAX)
        throw new EngineError('LIM-E002', `a deployment has at most ${PROVIDERS_MAX} providers: remove one first`);
      const record: ProviderRecord = {
        id,
        kind: wanted.kind,
        baseUrl: wanted.baseUrl,
        enabled: wanted.enabled ?? before?.enabled ?? true,
        createdAtMs: before?.createdAtMs ?? this.#nowMs(),
        ...defined({ apiKey: keyFor(wanted, before), region: wanted.region ?? before?.region }),
      };
      change.put('provider', record);
      audit(change, actor, {
        provider_id: id,
        change: before === undefined ? 'created' : 'replaced',
        kind: record.kind,
        api_key_set: record.apiKey !== undefined,
      });
      return { provider: this.#viewOf(record), isNew: before === undefined };
    });
  }

  /** LLM-E003 when there is none, LLM-E004 while a role uses it, AUT-E006 for one of the start. */
  async remove(id: string, actor: string): Promise<void> {
    await this.#control.commit((change) => {
      this.#refuseStart(id);
      this.get(id);
      const roles = ROLES.filter((role) => this.assignmentOf(role)?.provider === id);
      if (roles.length > 0)
        throw new EngineError(
          'LLM-E004',
          `the provider ${id} has the model of the role ${roles.join(', ')}: assign another model first`,
        );
      change.remove('provider', id);
      audit(change, actor, { provider_id: id, change: 'removed' });
    });
  }

  /**
   * Sets the models of some roles; null: the role has none. A role that is set to what the start named follows the start
   * again. `chat`: settings that change; the others stay. `vectorLength`: that of the present model for embeddings, if it is
   * known. LLM-E003 for an unknown provider or model.
   */
  async assign(
    wanted: { readonly [R in Role]?: Assignment | null | undefined },
    actor: string,
    { chat, vectorLength }: { readonly chat?: ChatSettings; readonly vectorLength?: number | undefined } = {},
  ): Promise<void> {
    await this.#control.commit((change) => {
      const kept = this.#kept();
      const assignments: Partial<Record<Role, Assignment | null>> = { ...kept.assignments };
      for (const role of ROLES) {
        const model = wanted[role];
        if (model === undefined) continue;
        if (model !== null && !isOwnModel(role, model)) checkModel(this.get(model.provider), model.model);
        if (isSame(model, this.#start.assignments[role] ?? null)) delete assignments[role];
        else assignments[role] = model;
      }
      const earlierEmbedding = this.#earlierAfter(assignments, vectorLength);
      const settings = { ...kept.chat, ...defined({ ...chat }) };
      const value = { assignments, chat: settings, earlierEmbedding } as unknown as JsonObject; // plain JSON
      change.put('setting', { name: SETTING, value });
      const roles = ROLES.filter((role) => wanted[role] !== undefined);
      change.audit({
        event: 'settings.changed',
        actor,
        subject: '',
        details: defined({
          setting: chat === undefined ? 'model_assignments' : 'llm',
          roles: roles.length === 0 ? undefined : roles.join(' '),
        }),
      });
    });
  }

  /** Models that made vectors before, and may have vectors that answer still. */
  get earlierEmbedding(): readonly Assignment[] {
    return this.#kept().earlierEmbedding ?? [];
  }

  /** The same, once the role has what `assignments` says. */
  #earlierAfter(
    { embedding }: Partial<Record<Role, Assignment | null>>,
    vectorLength: number | undefined,
  ): readonly Assignment[] {
    const now = this.assignmentOf('embedding');
    const next = embedding === undefined ? (this.#start.assignments.embedding ?? null) : embedding;
    const dimensions = now?.dimensions ?? vectorLength;
    const known = now === null || dimensions === undefined ? [] : [{ ...now, dimensions }];
    return [...known, ...this.earlierEmbedding]
      .filter((one, at, all) => !isSame(one, next) && all.findIndex((other) => isSame(one, other)) === at)
      .slice(0, EARLIER_MAX);
  }

  #kept(): Kept {
    const value = this.#control.get('setting', SETTING)?.value;
    return (value as unknown as Kept | undefined) ?? NOTHING; // written by assign
  }

  #refuseStart(id: string): void {
    if (START_IDS.includes(id))
      throw new EngineError(
        'AUT-E006',
        `the provider ${id} is set by the start options of the server: change it there`,
      );
  }

  /** Calls `changed` after each change of a provider or an assignment. */
  watch(changed: () => void): void {
    this.#control.watch('provider', changed);
    this.#control.watch('setting', (name) => {
      if (name === SETTING) changed();
    });
  }
}

const NOTHING: Kept = { assignments: {}, chat: {} };

/** The key that is kept when none is sent goes to the host that it was given for, and to no other: VAL-E001. */
function keyFor({ id, apiKey, kind, baseUrl }: WantedProvider, before: ProviderRecord | undefined): string | undefined {
  if (apiKey !== undefined || before?.apiKey === undefined) return apiKey;
  if (before.kind === kind && before.baseUrl !== '' && hostOf(before.baseUrl) === hostOf(baseUrl)) return before.apiKey;
  const issue = 'required with another kind or host';
  throw new EngineError(
    'VAL-E001',
    `the stored key of the provider ${id} is for ${before.baseUrl}: send the \`api_key\` for the new address`,
    {
      details: [{ field: 'api_key', issue }],
    },
  );
}

function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function checkModel({ kind, id }: Provider, model: string): void {
  if (kind === 'mock' && model !== ECHO)
    throw new EngineError('LLM-E003', `the only model of the provider ${id} is ${ECHO}`);
}

/** Models of this process make vectors or order hits. */
function isOwnModel(role: Role, { provider }: Assignment): boolean {
  return (role === 'embedding' || role === 'rerank') && provider === OWN_MODELS;
}

function isSame(one: Assignment | null, other: Assignment | null): boolean {
  return one?.provider === other?.provider && one?.model === other?.model;
}

function audit(change: Change, actor: string, details: Readonly<Record<string, string | boolean>>): void {
  change.audit({ event: 'provider.changed', actor, subject: '', details });
}
