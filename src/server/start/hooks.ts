// Starts the deliveries of webhooks.

import type { ControlStore } from '../control/store.ts';
import type { EventBells } from '../events/bells.ts';
import { Deliveries } from '../hooks/deliveries.ts';
import { Hooks } from '../hooks/hooks.ts';
import { Sender } from '../hooks/sender.ts';
import { isLoopback } from '../loopback.ts';
import type { Placed } from './shards.ts';
import type { Starting } from './starting.ts';

export interface HookParts {
  readonly hooks: Hooks;
  readonly deliveries: Deliveries;
}

/** A copy that repeats the removals of another deployment sends nothing: the original does. */
export function startHooks(
  { config, deps, clock, log, lifecycle }: Starting,
  {
    control,
    memories,
    router,
    bells,
  }: Pick<Placed, 'memories' | 'router'> & { readonly control: ControlStore; readonly bells: EventBells },
): HookParts {
  const nowMs = (): number => clock.nowMs();
  const hooks = new Hooks({ control, nowMs });
  const rule = { privateToo: config.allowPrivateWebhooks, loopbackToo: isLoopback(config.host) };
  const sender = new Sender({ rule, nowMs });
  const deliveries = new Deliveries({ hooks, control, memories, shards: router, bells, sender, rule, log, clock });
  lifecycle.opened('deliveries of webhooks', () => deliveries.close());
  if (deps.sendsWebhooks !== false && deps.repeats !== true) deliveries.start();
  return { hooks, deliveries };
}
