// One operation, asked over HTTP within the scope of a session.
import { randomUUID } from 'node:crypto';
import { defined } from '../engine/base/defined.ts';
import { headerText } from '../engine/base/header-text.ts';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import { ROUTES } from './gen/tools.ts';
import type { ApiRequest, Scope, Session } from './session.ts';

export interface Asking {
  /** Whether it changes something: a request that is sent twice is then done once. */
  readonly changes?: boolean | undefined;
}

/** Asks an operation with these members. Rejects with CallRefused. */
export async function ask(
  session: Session,
  operation: string,
  input: Readonly<Record<string, unknown>>,
  { changes = false }: Asking = {},
): Promise<JsonObject> {
  const scope = await session.scope();
  const answer = await session.api(requestOf(operation, input, { scope, changes }));
  if (ROUTES[operation]?.body !== 'command') return answer;
  return objectIn(answer['result']);
}

function requestOf(
  operation: string,
  input: Readonly<Record<string, unknown>>,
  { scope, changes }: { readonly scope: Scope; readonly changes: boolean },
): ApiRequest {
  const route = ROUTES[operation]!; // a test asks for the route of each tool
  const { memory, namespace, user } = scope;
  const own: Readonly<Record<string, string | undefined>> = { namespace, user_id: user };
  const members: Record<string, unknown> = { ...defined(input) };
  for (const name of route.scope) if (own[name] !== undefined) members[name] = own[name];
  const memoryPath = `/memories/${encodeURIComponent(memory)}`;
  const headers: Record<string, string> = {};
  if (namespace !== undefined) headers['x-namespace'] = headerText(namespace);
  if (user !== undefined) headers['x-user-id'] = headerText(user);
  if (changes) headers['idempotency-key'] = randomUUID();
  if (route.body === 'command')
    return {
      verb: 'POST',
      path: `${memoryPath}/app/exec`,
      json: { command: route.path, args: members },
      headers,
    };
  const path = route.path
    .replace('/memories/{id}', () => memoryPath)
    .replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = String(members[name] ?? '');
      delete members[name];
      return encodeURIComponent(value);
    });
  if (route.body === 'json') return { verb: route.verb, path, json: members, headers };
  return { verb: route.verb, path, query: members as ApiRequest['query'], headers }; // checked by the tool's schema
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}
