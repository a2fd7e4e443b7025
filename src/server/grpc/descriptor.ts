// The contract as data: the descriptor set that was generated from proto/, and the rpcs in it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const set = fromBinary(FileDescriptorSetSchema, readFileSync(join(import.meta.dirname, '..', 'gen', 'memory.binpb')));

/** Each file of the contract as an encoded FileDescriptorProto. */
export const FILES: readonly Buffer[] = set.file.map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file)));

export interface Service {
  /** With its package: `memory.v1.MemoryService`. */
  readonly name: string;
  /** Every one is unary. */
  readonly methods: readonly string[];
}

export const SERVICES: readonly Service[] = set.file.flatMap((file) =>
  file.service.map((service) => ({
    name: `${file.package}.${service.name}`,
    methods: service.method.map((method) => method.name),
  })),
);
