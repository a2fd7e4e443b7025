// A server: its memories, and the operations of the deployment.
import type { DeploymentCalls, Item, Output, PagedInput, PagedOperation, Scope } from './calls.ts';
import { ScopeError } from './errors.ts';
import { ROUTES } from './gen/operations.ts';
import { Memory, operationsOf, pages } from './memory.ts';
import { type CallOptions, type ClientOptions, Transport } from './transport.ts';

export class Granary {
  /** Every operation of the deployment, by its name. */
  readonly operations: DeploymentCalls;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.operations = operationsOf(
      (name) => /^\S+ \//.test(ROUTES[name as keyof typeof ROUTES]),
      (name, input = {}, call) => this.#transport.call(name, input, undefined, call),
    ) as DeploymentCalls; // a method for each route of the deployment
  }

  /** A memory, within a scope that each of its calls carries. */
  memory<const S extends Scope = Record<never, never>>(id: string, scope?: S): Memory<S> {
    return new Memory(this.#transport, id, scope ?? ({} as S));
  }

  /** The items of all pages of a list. */
  async *each<N extends PagedOperation & keyof DeploymentCalls>(
    name: N,
    input?: PagedInput<N>,
    options?: CallOptions,
  ): AsyncGenerator<Item<N>, void, undefined> {
    yield* pages(name, input, (page) => this.#transport.call(name, page, undefined, options) as Promise<object>);
  }

  /** Deletes a memory with all that it holds. `confirm` repeats the id. */
  async deleteMemory(
    id: string,
    { confirm }: { readonly confirm: string },
    options?: CallOptions,
  ): Promise<Output<'deleteMemory'>> {
    if (id === '' || confirm !== id)
      throw new ScopeError('`confirm` must repeat the id of the memory', { code: 'CLIENT', status: 0 });
    const answer = this.#transport.call('deleteMemory', {}, { memory: id }, options);
    return answer as Promise<Output<'deleteMemory'>>; // the table's pair
  }
}
