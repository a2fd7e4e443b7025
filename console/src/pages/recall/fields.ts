// The fields of a recall, as the server's own OpenAPI document describes them, and their values in the address.
import type { Granary, Input, Json, JsonObject } from 'granary-client';
import { wordsOf } from '../../parts/filters.tsx';

export interface Field {
  /** Name on the wire. */
  readonly name: string;
  readonly kind: 'flag' | 'number' | 'choice' | 'texts' | 'json' | 'text';
  readonly description: string;
  readonly choices: readonly string[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly isInteger: boolean;
  /** The default, as text; empty without one. */
  readonly fallback: string;
}

/** Values by the names of the wire. */
export type Settings = Readonly<Record<string, Json>>;

const PATH = '/api/memories/{id}/recall';

/** Fields that the page has a place of its own for. */
const OWN = new Set(['query']);

export async function recallFields(client: Granary, signal: AbortSignal): Promise<readonly Field[]> {
  const { paths } = await client.operations.openapi({}, { signal });
  const schema = [PATH, 'post', 'requestBody', 'content', 'application/json', 'schema', 'properties'].reduce<Json>(
    (node, name) => (isObject(node) ? (node[name] ?? null) : null),
    paths,
  );
  if (!isObject(schema)) throw new Error('the OpenAPI document of the server has no recall');
  return Object.entries(schema)
    .filter(([name]) => !OWN.has(name))
    .map(([name, node]) => fieldOf(name, isObject(node) ? node : {}));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(name: string, node: JsonObject): Field {
  const { type, description, minimum, maximum, items } = node;
  const choices = Array.isArray(node['enum']) ? node['enum'].map(String) : [];
  return {
    name,
    kind: kindOf(type, choices, items),
    description: String(description ?? ''),
    choices,
    min: typeof minimum === 'number' ? minimum : undefined,
    max: typeof maximum === 'number' ? maximum : undefined,
    isInteger: type === 'integer',
    fallback: node['default'] === undefined ? '' : String(node['default']),
  };
}

function kindOf(type: Json | undefined, choices: readonly string[], items: Json | undefined): Field['kind'] {
  if (choices.length > 0) return 'choice';
  if (type === 'boolean') return 'flag';
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array') return isObject(items ?? null) && (items as JsonObject)['type'] === 'string' ? 'texts' : 'json';
  return type === 'string' ? 'text' : 'json';
}

/** The value that a text of the address stands for. A text that is none is sent as it is, and the server says so. */
export function valueIn({ kind }: Field, text: string): Json {
  if (kind === 'flag' && (text === 'true' || text === 'false')) return text === 'true';
  if (kind === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (kind === 'texts') return wordsOf(text);
  if (kind !== 'json') return text;
  try {
    return JSON.parse(text) as Json; // as JSON.parse gives it
  } catch {
    return text;
  }
}

/** The input of the client's method: names in camelCase. Times are numbers already, as the wire has them. */
export function inputOf(query: string, settings: Settings): Input<'recall'> {
  const named = Object.entries(settings).map(([name, value]) => [camelCase(name), value]);
  return Object.fromEntries([...(query === '' ? [] : [['query', query]]), ...named]) as Input<'recall'>; // checked by the server
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
