// A tool of the Model Context Protocol, and the plan by which the generator takes it from the operation table.

/** JSON Schema of an object, as tools/list shows it. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: string[];
}

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How an operation is sent over HTTP. */
export interface Route {
  readonly verb: Verb;
  /** Below /api; `{id}` is the memory. For a command its name. */
  readonly path: string;
  readonly body: 'json' | 'query' | 'command';
  /** Members of its input that name the scope. */
  readonly scope: readonly string[];
}

export interface Tool {
  readonly name: string;
  /** The row of the operation table. */
  readonly operation: string;
  readonly profile: 'default' | 'full';
  readonly changes: boolean;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** A member of a tool's input: its description, or what else differs from the row's schema. */
export type InputMember =
  | string
  | { readonly from?: string; readonly required?: true; readonly [keyword: string]: unknown };

/** The members that a tool takes from the row of its operation. */
export interface ToolPlan {
  readonly name: string;
  readonly operation: string;
  readonly description: string;
  /** By outside name. `from` names the row's member where the tool's name differs. */
  readonly input: Readonly<Record<string, InputMember>>;
  /** Paths of the row's output, such as `results[].hash`. */
  readonly output: readonly string[];
  /** Members of the output that the tool itself makes. */
  readonly made?: Readonly<Record<string, object>>;
  /** Those of them that every answer has. */
  readonly always?: readonly string[];
  /** True for a tool that only reads, by an operation that can change something too. */
  readonly onlyReads?: true;
  readonly destroys?: true;
  readonly repeats?: true;
}

/** Members that say whose data a call is about. They come from the key, from options or from headers, never from a model. */
export const SCOPE_MEMBERS: ReadonlySet<string> = new Set([
  'memory',
  'memory_id',
  'namespace',
  'user_id',
  'scope_path',
]);
