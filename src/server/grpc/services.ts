// The services of the contract and their methods, by name. What reflection tells of them besides is in descriptor.ts.
import { MemoryBatchServiceDefinition, MemoryServiceDefinition } from '../gen/memory/v1/memory.ts';

export interface Service {
  /** With its package: `memory.v1.MemoryService`. */
  readonly name: string;
  /** Of the contract every one is unary. */
  readonly methods: readonly string[];
}

export const SERVICES: readonly Service[] = [MemoryServiceDefinition, MemoryBatchServiceDefinition].map(
  ({ fullName, methods }) => ({ name: fullName, methods: Object.values(methods).map(({ name }) => name) }),
);
