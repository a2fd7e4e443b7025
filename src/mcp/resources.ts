// Resources: a grain by its hash, and the profile of the connection's user. Their texts are fenced.
import { onDemand } from '../engine/base/on-demand.ts';
import type * as Json from '../engine/grain/api/json.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { ask } from './ask.ts';
import { fencedLines } from './fence.ts';
import { CallRefused } from './refused.ts';
import type { Session } from './session.ts';

export const PROFILE_URI = 'granary://profile';
export const GRAIN_TEMPLATE = 'granary://grain/{hash}';
const GRAIN_URI = /^granary:\/\/grain\/([0-9a-f]{64})$/;
/** Types that say what holds of a user, as opposed to what was said or done. */
const PROFILE_TYPES = ['belief', 'goal', 'state', 'consensus'];
const PROFILE_GRAINS_MAX = 100;

export const RESOURCES = [
  {
    uri: PROFILE_URI,
    name: 'profile',
    title: 'Profile',
    description: 'The grains about the user of this connection.',
    mimeType: 'text/plain',
  },
];

export const TEMPLATES = [
  {
    uriTemplate: GRAIN_TEMPLATE,
    name: 'grain',
    title: 'Grain',
    description: 'A grain with all of its fields, by its hash.',
    mimeType: 'text/plain',
  },
];

const json = onDemand<typeof Json>(import.meta.url, '../engine/grain/api/json');

/** The text of a resource; undefined for a URI that names none. Rejects with CallRefused. */
export async function readResource(session: Session, uri: string): Promise<string | undefined> {
  if (uri === PROFILE_URI) return profile(session);
  const hash = GRAIN_URI.exec(uri)?.[1];
  if (hash === undefined) return undefined;
  try {
    const grain = await ask(session, 'get', { hash });
    return fencedLines([json().stringifyJson(grain)]);
  } catch (error) {
    if (error instanceof CallRefused && NOT_THERE.has(error.code)) return undefined;
    throw error;
  }
}

/** Not found, and erased. */
const NOT_THERE: ReadonlySet<string> = new Set(['MEM-E001', 'MEM-E006']);

async function profile(session: Session): Promise<string> {
  const { user, namespace, memory } = await session.scope();
  const answer = await ask(session, 'list_grains', { grain_type: PROFILE_TYPES, limit: PROFILE_GRAINS_MAX });
  const grains = Array.isArray(answer['grains']) ? answer['grains'].filter(isObject) : [];
  const of = [`memory ${memory}`, namespace && `namespace ${namespace}`, user && `user ${user}`]
    .filter(Boolean)
    .join(', ');
  if (grains.length === 0) return `The profile is empty (${of}).`;
  const lines = PROFILE_TYPES.flatMap((type) => {
    const own = grains.filter((grain) => grain['grain_type'] === type).map((grain) => `- ${String(grain['text'])}`);
    return own.length === 0 ? [] : [`${type}:`, ...own];
  });
  const isAll = typeof answer['next_cursor'] !== 'string';
  return [`Profile (${of})${isAll ? '' : `, the newest ${grains.length} grains`}:`, fencedLines(lines)].join('\n');
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
