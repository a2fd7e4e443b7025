// Descriptors of the standard services, which clients without their proto files need for grpc.health.v1 and reflection.
// A test compares them with the published proto files.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type DescriptorProto,
  type DescriptorProtoSchema,
  type FieldDescriptorProto,
  type FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { defined } from '../../engine/base/defined.ts';

/** Fields of messages. */
type Field = Exclude<MessageInitShape<typeof FieldDescriptorProtoSchema>, FieldDescriptorProto>;
type Message = Exclude<MessageInitShape<typeof DescriptorProtoSchema>, DescriptorProto>;

interface FieldOptions {
  readonly repeated?: true | undefined;
  /** The field is in the message's only oneof. */
  readonly choice?: true | undefined;
}

/** `type`: a scalar, or a message's full name after a dot. */
function field(name: string, number: number, type: Type | string, options: FieldOptions = {}): Field {
  return defined({
    name,
    jsonName: name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    number,
    label: options.repeated ? Label.REPEATED : Label.OPTIONAL,
    ...(typeof type === 'string' ? { type: Type.MESSAGE, typeName: type } : { type }),
    oneofIndex: options.choice ? 0 : undefined,
  });
}

function message(name: string, fields: readonly Field[], oneof?: string): Message {
  return { name, field: [...fields], oneofDecl: oneof === undefined ? [] : [{ name: oneof }] };
}

function healthFile(): FileDescriptorProto {
  const statuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'].map((name, number) => ({ name, number }));
  // On the wire a map is a list of entries.
  const entry = message('StatusesEntry', [
    field('key', 1, Type.STRING),
    field('value', 2, '.grpc.health.v1.HealthCheckResponse'),
  ]);
  const list = message('HealthListResponse', [
    field('statuses', 1, '.grpc.health.v1.HealthListResponse.StatusesEntry', { repeated: true }),
  ]);
  const [asked, answer] = ['.grpc.health.v1.HealthCheckRequest', '.grpc.health.v1.HealthCheckResponse'];
  return create(FileDescriptorProtoSchema, {
    name: 'grpc/health/v1/health.proto',
    package: 'grpc.health.v1',
    syntax: 'proto3',
    messageType: [
      message('HealthListRequest', []),
      { ...list, nestedType: [{ ...entry, options: { mapEntry: true } }] },
      message('HealthCheckRequest', [field('service', 1, Type.STRING)]),
      {
        ...message('HealthCheckResponse', [
          { ...field('status', 1, '.grpc.health.v1.HealthCheckResponse.ServingStatus'), type: Type.ENUM },
        ]),
        enumType: [{ name: 'ServingStatus', value: statuses }],
      },
    ],
    service: [
      {
        name: 'Health',
        method: [
          { name: 'Check', inputType: asked, outputType: answer },
          { name: 'Watch', inputType: asked, outputType: answer, serverStreaming: true },
          {
            name: 'List',
            inputType: '.grpc.health.v1.HealthListRequest',
            outputType: '.grpc.health.v1.HealthListResponse',
          },
        ],
      },
    ],
  });
}

function reflectionFile(version: string): FileDescriptorProto {
  const inPackage = (name: string): string => `.grpc.reflection.${version}.${name}`;
  const [request, response] = ['ServerReflectionRequest', 'ServerReflectionResponse'];
  const pick = (name: string, number: number, type: Type | string): Field =>
    field(name, number, type, { choice: true });
  return create(FileDescriptorProtoSchema, {
    name: `grpc/reflection/${version}/reflection.proto`,
    package: `grpc.reflection.${version}`,
    syntax: 'proto3',
    messageType: [
      message(
        request,
        [
          field('host', 1, Type.STRING),
          pick('file_by_filename', 3, Type.STRING),
          pick('file_containing_symbol', 4, Type.STRING),
          pick('file_containing_extension', 5, inPackage('ExtensionRequest')),
          pick('all_extension_numbers_of_type', 6, Type.STRING),
          pick('list_services', 7, Type.STRING),
        ],
        'message_request',
      ),
      message('ExtensionRequest', [field('containing_type', 1, Type.STRING), field('extension_number', 2, Type.INT32)]),
      message(
        response,
        [
          field('valid_host', 1, Type.STRING),
          field('original_request', 2, inPackage(request)),
          pick('file_descriptor_response', 4, inPackage('FileDescriptorResponse')),
          pick('all_extension_numbers_response', 5, inPackage('ExtensionNumberResponse')),
          pick('list_services_response', 6, inPackage('ListServiceResponse')),
          pick('error_response', 7, inPackage('ErrorResponse')),
        ],
        'message_response',
      ),
      message('FileDescriptorResponse', [field('file_descriptor_proto', 1, Type.BYTES, { repeated: true })]),
      message('ExtensionNumberResponse', [
        field('base_type_name', 1, Type.STRING),
        field('extension_number', 2, Type.INT32, { repeated: true }),
      ]),
      message('ListServiceResponse', [field('service', 1, inPackage('ServiceResponse'), { repeated: true })]),
      message('ServiceResponse', [field('name', 1, Type.STRING)]),
      message('ErrorResponse', [field('error_code', 1, Type.INT32), field('error_message', 2, Type.STRING)]),
    ],
    service: [
      {
        name: 'ServerReflection',
        method: [
          {
            name: 'ServerReflectionInfo',
            inputType: inPackage(request),
            outputType: inPackage(response),
            clientStreaming: true,
            serverStreaming: true,
          },
        ],
      },
    ],
  });
}

export const STANDARD_FILES: readonly FileDescriptorProto[] = [
  healthFile(),
  reflectionFile('v1'),
  reflectionFile('v1alpha'),
];
