// The rights of a client, and whose data it sees: the tools, the scope, and the way to the server.
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { TOOLS } from './gen/tools.ts';
import { CallRefused } from './refused.ts';
import type { Tool, Verb } from './tool.ts';

export interface ApiRequest {
  readonly verb: Verb;
  /** Below /api. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> | undefined;
  readonly json?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a request of the HTTP API and resolves to its JSON answer. Rejects with CallRefused. */
export type Api = (request: ApiRequest) => Promise<JsonObject>;

/** Memory, namespace and user of every call. They never come from a model. */
export interface Scope {
  readonly memory: string;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
}

export interface Session {
  readonly api: Api;
  /** Rejects with CallRefused where the scope is not known. */
  readonly scope: () => Promise<Scope>;
  readonly tools: readonly Tool[];
  readonly readOnly: boolean;
}

export type Profile = 'default' | 'full';

export interface Offer {
  readonly profile?: Profile | undefined;
  /** No tool that changes something. */
  readonly readOnly?: boolean | undefined;
  /** Names of the only tools; of either profile. */
  readonly names?: readonly string[] | undefined;
}

/** The tools of an offer. Throws CallRefused for a name that is no tool. */
export function offeredTools({ profile = 'default', readOnly = false, names }: Offer): readonly Tool[] {
  const unknown = names?.filter((name) => !TOOLS.some((tool) => tool.name === name)) ?? [];
  if (unknown.length > 0)
    throw new CallRefused(
      'VAL-E001',
      `unknown tool ${unknown.join(', ')}: use ${TOOLS.map(({ name }) => name).join(', ')}`,
    );
  return TOOLS.filter(
    (tool) =>
      (names === undefined ? tool.profile === 'default' || profile === 'full' : names.includes(tool.name)) &&
      !(readOnly && tool.changes),
  );
}
