// The types of calls: each operation of the table as a method, within the scope of a memory.
import type { DeploymentOperation, MemoryOperation, Operations, PAGES } from './gen/operations.ts';
import type { CallOptions } from './transport.ts';

/** The scope of a memory: calls reach the data of this user and this namespace, and no other. */
export interface Scope {
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
}

/** Members that a scope decides. */
type Fixed<S extends Scope> =
  | (S extends { readonly user: string } ? 'userId' : never)
  | (S extends { readonly namespace: string } ? 'namespace' : never);

/** `Omit` that keeps the alternatives and the optional members of a type. */
export type Without<T, K extends PropertyKey> = T extends unknown
  ? { [P in keyof T as P extends K ? never : P]: T[P] } & { readonly [P in K]?: never }
  : never;

export type Input<N extends keyof Operations, S extends Scope = Scope> = [Fixed<S>] extends [never]
  ? Operations[N]['input']
  : Without<Operations[N]['input'], Fixed<S>>;
export type Output<N extends keyof Operations> = Operations[N]['output'];

type Method<N extends keyof Operations, S extends Scope> = (
  ...args: Record<never, never> extends Input<N, S>
    ? [input?: Input<N, S>, options?: CallOptions]
    : [input: Input<N, S>, options?: CallOptions]
) => Output<N> extends AsyncGenerator ? Output<N> : Promise<Output<N>>;

/** Operations that have a method of the memory instead, because they remove what cannot be brought back, or are more. */
export const GUARDED = ['forget', 'forgetUser', 'deleteMemory', 'exec', 'events'] as const;
type Guarded = (typeof GUARDED)[number];

export type MemoryCalls<S extends Scope> = { readonly [N in Exclude<MemoryOperation, Guarded>]: Method<N, S> };
export type DeploymentCalls = { readonly [N in DeploymentOperation]: Method<N, Scope> };

export type PagedOperation = keyof typeof PAGES;
export type PagedInput<N extends PagedOperation, S extends Scope = Scope> = Without<Input<N, S>, 'cursor' | 'offset'>;
type Items<N extends PagedOperation> = (typeof PAGES)[N];
export type Item<N extends PagedOperation> =
  Output<N> extends infer O
    ? Items<N> extends keyof O
      ? O[Items<N>] extends readonly (infer I)[]
        ? I
        : never
      : never
    : never;
