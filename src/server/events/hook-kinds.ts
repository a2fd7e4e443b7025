// The kinds of events that a hook selects.
import { EngineError } from '../../engine/base/errors.ts';
import type { EventKind } from '../../engine/govern/trail/event-kinds.ts';
import type { EventCaller } from './subscription.ts';

/** Empty: all kinds. Throws HOK-E003 for an unknown hook; this build has none. */
export function hookKinds(_caller: Pick<EventCaller, 'memory'>, _hookId: string): readonly EventKind[] {
  throw new EngineError('HOK-E003', 'hook not found');
}
