import { CALL_ROWS } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { KnownAgent } from '../govern/agents/agents.ts';
import type { Memory } from '../store/memory.ts';

/**
 * The agent whose call the policy refuses, for its trust. A call on the whole memory is refused in every partition: the first
 * one counts it.
 */
export function refusedAgent(memory: Memory, context: CallContext, method: string): KnownAgent | undefined {
  const rows: Readonly<Record<string, object>> = CALL_ROWS;
  const row = rows[method];
  const isWhole = row !== undefined && 'access' in row && typeof row.access === 'object';
  return isWhole && context.partition !== 0 ? undefined : memory.governed.agents.acting(context);
}
