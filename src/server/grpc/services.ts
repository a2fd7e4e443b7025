// The contract's services and methods by name. descriptor.ts has the details for reflection.
import { MemoryBatchServiceDefinition, MemoryServiceDefinition } from '../gen/memory/v1/memory.ts';

export interface Service {
  /** With its package: `memory.v1.MemoryService`. */
  readonly name: string;
  /** All methods of the contract are unary. */
  readonly methods: readonly string[];
}

export const SERVICES: readonly Service[] = [MemoryServiceDefinition, MemoryBatchServiceDefinition].map(
  ({ fullName, methods }) => ({ name: fullName, methods: Object.values(methods).map(({ name }) => name) }),
);
