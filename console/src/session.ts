// Who is signed in. The key is in the memory of this tab and nowhere else: leaving or reloading the page forgets it.
import { computed, signal } from '@preact/signals';
import { Granary, GranaryError, type Output, PermissionError } from 'granary-client';
import { SERVER } from './place.ts';

export type Caller = Output<'whoami'>;
export type Deployment = Output<'config'>;

export interface Session {
  readonly client: Granary;
  readonly caller: Caller;
  readonly deployment: Deployment;
  /** True without keys: everyone may call, and there is nothing to sign out of. */
  readonly isOpen: boolean;
}

export const session = signal<Session | undefined>(undefined);
/** Why the session ended by itself. */
export const ended = signal<GranaryError | undefined>(undefined);
/** False since a request found no server, until one does. */
export const isReachable = signal(true);
/** How often this console made or deleted a memory, which makes a list of them old; and the one that it deleted last. */
export const memoryChanges = signal<{ readonly times: number; readonly deleted: string | undefined }>({
  times: 0,
  deleted: undefined,
});
/** Operations that the server answered 501. */
export const notOffered = signal<ReadonlySet<string>>(new Set());

/** Operations that the caller may ask for, by the names of the client. */
export const allowed = computed<ReadonlySet<string>>(
  () => new Set(session.value?.caller.operations.map(camelCase).filter((name) => !notOffered.value.has(name))),
);

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** A client that tells when the server is gone, and whether it is back. */
export function clientWith(apiKey: string | undefined): Granary {
  return new Granary({ url: SERVER, apiKey, retries: 1, fetch: watchedFetch });
}

/** Tells whether the server is reachable. */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    // The key alone says who asks; a page of the console is never to be sent on. The browser's cache would hold the answer
    // after the sign-out, and after an erasure.
    const response = await fetch(input, { ...init, credentials: 'omit', redirect: 'error', cache: 'no-store' });
    isReachable.value = true;
    return response;
  } catch (error) {
    if (init?.signal?.aborted !== true) isReachable.value = false;
    throw error;
  }
}

/** The public part of the server's configuration. */
export function deploymentOf(): Promise<Deployment> {
  return clientWith(undefined).operations.config();
}

/** Signs in with a key or token; undefined: without. Rejects with the client's error. */
export async function signIn(apiKey: string | undefined, deployment: Deployment): Promise<void> {
  const client = clientWith(apiKey);
  const caller = await client.operations.whoami();
  ended.value = undefined;
  notOffered.value = new Set();
  session.value = { client, caller, deployment, isOpen: apiKey === undefined };
}

export function signOut(): void {
  session.value = undefined;
}

// The browser may keep a page that is left for the way back, with all that it holds.
addEventListener('pagehide', ({ persisted }) => {
  if (persisted) signOut();
});

/** This console made a memory, or deleted the one of the id. */
export function noteMemories(deleted: string | undefined): void {
  memoryChanges.value = { times: memoryChanges.value.times + 1, deleted };
}

/** The operations without which the page that is shown is nothing. */
let needed: readonly string[] = [];

export function noteShown(operations: readonly string[]): void {
  needed = operations;
}

/**
 * Looks at what a call threw. A key that is no longer one ends the session. A page whose server does not offer an
 * operation (501) is hidden from now on.
 */
export function noteError(error: unknown): void {
  if (error instanceof GranaryError && error.status === 501)
    notOffered.value = new Set([...notOffered.value, ...needed]);
  if (error instanceof PermissionError && error.status === 401 && session.value !== undefined) {
    ended.value = error;
    session.value = undefined;
  }
}

/** The session of a page that is shown only to those who are signed in. */
export function useSession(): Session {
  const current = session.value;
  if (current === undefined) throw new Error('nobody is signed in');
  return current;
}
