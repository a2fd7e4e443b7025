// The deployment's limits for CAL: switches (durable), templates, and rates of changes per caller.

import type { Clock } from '../engine/base/clock.ts';
import { defined } from '../engine/base/defined.ts';
import { EngineError } from '../engine/base/errors.ts';
import { CalError } from '../engine/cal/errors.ts';
import type { TemplateDefinition } from '../engine/cal/output/template.ts';
import { CAL_LIMITS } from '../engine/cal/vocabulary/limits.ts';
import type { JsonValue } from '../shards/protocol.ts';
import { RateLimiter } from './auth/rate-limit.ts';
import type { Config } from './config.ts';
import { settingsPrefix } from './control/memories.ts';
import type { ControlChanges } from './control/reading.ts';

const ENABLED = 'cal.enabled';
const TIER_ONE = 'cal.tier1_enabled';
/** Per namespace of a memory. */
const TEMPLATES_MAX = 50;

export interface CalSwitches {
  readonly enabled: boolean;
  readonly tierOneEnabled: boolean;
}

type Templates = Readonly<Record<string, TemplateDefinition>>;
type Change = 'add' | 'supersede' | 'revert';

export class CalGate {
  readonly #control: ControlChanges;
  readonly #config: Pick<Config, 'calTier1'>;
  readonly #quotas: Readonly<Record<Change, RateLimiter>>;

  constructor({ control, clock, config }: { control: ControlChanges; clock: Clock; config: Pick<Config, 'calTier1'> }) {
    this.#control = control;
    this.#config = config;
    const quota = (perMinute: number) => new RateLimiter({ perMinute, burst: perMinute, clock });
    this.#quotas = {
      add: quota(CAL_LIMITS.addsPerMinute),
      supersede: quota(CAL_LIMITS.supersedesPerMinute),
      revert: quota(CAL_LIMITS.revertsPerMinute),
    };
  }

  get switches(): CalSwitches {
    const isOn = (name: string): boolean => this.#control.get('setting', name)?.value !== false;
    return { enabled: isOn(ENABLED), tierOneEnabled: this.#config.calTier1 && isOn(TIER_ONE) };
  }

  /** Sets the given switches and leaves the others. Resolves when durable. */
  async turn(switches: Partial<CalSwitches>, by: string): Promise<CalSwitches> {
    const { enabled, tierOneEnabled } = switches;
    await this.#control.commit((change) => {
      if (enabled !== undefined) change.put('setting', { name: ENABLED, value: enabled });
      if (tierOneEnabled !== undefined) change.put('setting', { name: TIER_ONE, value: tierOneEnabled });
      change.audit({
        event: 'settings.changed',
        actor: by,
        subject: '',
        details: defined({
          [ENABLED]: enabled,
          [TIER_ONE]: tierOneEnabled,
        }),
      });
    });
    return this.switches;
  }

  /** Throws CAL-E101 while the master switch is off. */
  requireOn(): void {
    if (!this.switches.enabled)
      throw new EngineError(
        'CAL-E101',
        'CAL is switched off for this deployment: an admin turns it on with cal_switch',
        { retryable: true },
      );
  }

  /** Counts a change by `caller`. Throws E043 or E052 over the limit per minute. */
  take(change: Change, caller: string): void {
    if (this.#quotas[change].take(caller).granted) return;
    throw new CalError(
      change === 'add' ? 'CAL-E052' : 'CAL-E043',
      `too many ${change.toUpperCase()} statements in a minute`,
    );
  }

  /** Templates of a namespace of a memory. Unbound callers use the ones without a namespace. */
  templatesOf(memory: number, namespace: string | undefined): Templates {
    const kept = this.#control.get('setting', templatesName(memory, namespace))?.value;
    return (kept ?? {}) as unknown as Templates; // written only by `define`
  }

  /** Throws E088 for an existing name, E089 over the limit. Resolves when durable. */
  async define(
    { memory, namespace }: { readonly memory: number; readonly namespace: string | undefined },
    name: string,
    definition: TemplateDefinition,
  ): Promise<void> {
    await this.#control.commit((change) => {
      const templates = this.templatesOf(memory, namespace);
      if (Object.hasOwn(templates, name))
        throw new CalError('CAL-E088', `a template ${name} exists already: choose another name`);
      if (Object.keys(templates).length >= TEMPLATES_MAX)
        throw new CalError('CAL-E089', `a namespace has at most ${TEMPLATES_MAX} templates`);
      const value = { ...templates, [name]: definition } as unknown as JsonValue; // strings within objects
      change.put('setting', { name: templatesName(memory, namespace), value });
    });
  }
}

function templatesName(memory: number, namespace: string | undefined): string {
  return `${settingsPrefix(memory)}cal.templates/${namespace ?? ''}`;
}
