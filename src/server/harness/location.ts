// Where a tool runs.
import { EngineError } from '../../engine/base/errors.ts';
import { TOOL_LOCATION_CHARS_MAX } from '../../engine/base/limits.ts';
import type { Services } from '../context.ts';
import type { ExecutorKind } from './tool.ts';

/** The engine tools: what a `builtin://` location names. */
export const BUILTIN_TOOLS = ['recall', 'add', 'supersede', 'forget', 'goals'] as const;

const LOCATION = /^([a-z]+):\/\/([^\s\p{Cc}]+)$/u;

export function executorKindOf(location: string): ExecutorKind {
  return location.startsWith('client://') ? 'client' : 'host';
}

/** VAL-E001 for a location at which this server can run no tool. */
export async function checkLocation(
  location: string,
  { deliveries, turns }: Pick<Services, 'deliveries' | 'turns'>,
): Promise<void> {
  const [, scheme, rest = ''] = LOCATION.exec(location) ?? [];
  if (location.length > TOOL_LOCATION_CHARS_MAX) throw bad(`has more than ${TOOL_LOCATION_CHARS_MAX} characters`);
  switch (scheme) {
    case 'client':
      return;
    case 'builtin':
      if (!BUILTIN_TOOLS.some((name) => name === rest))
        throw bad(`must have one of ${BUILTIN_TOOLS.join(', ')} after builtin://`);
      return;
    case 'http':
    case 'https':
      await checkUrl(location, deliveries);
      return;
    case 'executor':
      if (!turns.runners.executors.has(rest)) throw bad(`the server has no executor ${JSON.stringify(rest)}`);
      return;
    default:
      throw bad('must begin with client://, builtin://, http://, https:// or executor://');
  }
}

/** A tool is called like a webhook, so the same URLs are refused. */
async function checkUrl(location: string, deliveries: Pick<Services['deliveries'], 'checkUrl'>): Promise<void> {
  try {
    await deliveries.checkUrl(location);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw bad(error.message.replace(/^HOK-E001: /, '').replaceAll('`url`', 'it'));
  }
}

function bad(issue: string): EngineError {
  return new EngineError('VAL-E001', `\`location\`: ${issue}`, { details: [{ field: 'location', issue }] });
}
