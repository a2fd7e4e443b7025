// The descriptor set generated from proto/, with an index of its names and the standard services, which reflection
// describes too. Loaded on the first reflection request, because it needs all of @bufbuild/protobuf.
import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import { STANDARD_FILES } from './standard-files.ts';

const set = fromBinary(FileDescriptorSetSchema, readFileSync(new URL('../gen/memory.binpb', import.meta.url)));

const FILES: readonly FileDescriptorProto[] = [...set.file, ...STANDARD_FILES];

/** Files by name, as encoded FileDescriptorProto. */
const ENCODED: ReadonlyMap<string, Uint8Array> = new Map(
  FILES.map((file) => [file.name, toBinary(FileDescriptorProtoSchema, file)]),
);

/** All services of a front, with their packages. */
export const SERVICE_NAMES: readonly string[] = FILES.flatMap((file) =>
  file.service.map((service) => `${file.package}.${service.name}`),
);

let symbols: ReadonlyMap<string, string> | undefined;

/** Name of the file that declares a symbol (message, field, enum, enum value, service or method), by full name. */
export function fileOfSymbol(symbol: string): string | undefined {
  symbols ??= new Map(FILES.flatMap((file) => symbolsIn(file).map((name) => [name, file.name])));
  return symbols.get(symbol);
}

/** The encoded file of that name and all its imports, each once, itself first; empty when there is no such file. */
export function filesNeeded(name: string): readonly Uint8Array[] {
  const needed = new Map<string, Uint8Array>();
  const visit = (wanted: string): void => {
    const encoded = ENCODED.get(wanted);
    if (encoded === undefined || needed.has(wanted)) return;
    needed.set(wanted, encoded);
    for (const imported of FILES.find((file) => file.name === wanted)?.dependency ?? []) visit(imported);
  };
  visit(name);
  return [...needed.values()];
}

function symbolsIn(file: FileDescriptorProto): string[] {
  const inPackage = (name: string): string => (file.package === '' ? name : `${file.package}.${name}`);
  return [
    ...file.messageType.flatMap((message) => symbolsOfMessage(inPackage(message.name), message)),
    ...file.enumType.flatMap((one) => symbolsOfEnum(inPackage(one.name), one)),
    ...file.service.flatMap((service) => [
      inPackage(service.name),
      ...service.method.map((method) => `${inPackage(service.name)}.${method.name}`),
    ]),
  ];
}

function symbolsOfMessage(name: string, message: DescriptorProto): string[] {
  return [
    name,
    ...[...message.field, ...message.oneofDecl].map((member) => `${name}.${member.name}`),
    ...message.nestedType.flatMap((nested) => symbolsOfMessage(`${name}.${nested.name}`, nested)),
    ...message.enumType.flatMap((one) => symbolsOfEnum(`${name}.${one.name}`, one)),
  ];
}

function symbolsOfEnum(name: string, { value }: EnumDescriptorProto): string[] {
  return [name, ...value.map((one) => `${name}.${one.name}`)];
}
