import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescService, MessageInitShape } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt';
import type { DescriptorProtoSchema, FieldDescriptorProtoSchema, FileDescriptorProto } from '@bufbuild/protobuf/wkt';

const PACKAGE = '.grpc.health.v1';

/** The states of a service. */
export const HealthStatus = { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 } as const;

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type Message = MessageInitShape<typeof DescriptorProtoSchema>;

const textField = (name: string, number: number): Field => ({
  name,
  jsonName: name,
  number,
  label: Label.OPTIONAL,
  type: Type.STRING,
});
const inner = (name: string, number: number, typeName: string): Field => ({
  name,
  jsonName: name,
  number,
  label: Label.OPTIONAL,
  type: Type.MESSAGE,
  typeName: `${PACKAGE}.${typeName}`,
});

const CHECK_RESPONSE: Message = {
  name: 'HealthCheckResponse',
  field: [
    {
      name: 'status',
      jsonName: 'status',
      number: 1,
      label: Label.OPTIONAL,
      type: Type.ENUM,
      typeName: `${PACKAGE}.HealthCheckResponse.ServingStatus`,
    },
  ],
  enumType: [
    {
      name: 'ServingStatus',
      value: Object.entries(HealthStatus).map(([name, number]) => ({ name, number })),
    },
  ],
};

const LIST_RESPONSE: Message = {
  name: 'HealthListResponse',
  field: [{ ...inner('statuses', 1, 'HealthListResponse.StatusesEntry'), label: Label.REPEATED }],
  nestedType: [
    {
      name: 'StatusesEntry',
      options: { mapEntry: true },
      field: [textField('key', 1), inner('value', 2, 'HealthCheckResponse')],
    },
  ],
};

/** `grpc/health/v1/health.proto`, as it is served and as reflection describes it. */
export const healthFile: FileDescriptorProto = create(FileDescriptorProtoSchema, {
  name: 'grpc/health/v1/health.proto',
  package: PACKAGE.slice(1),
  syntax: 'proto3',
  messageType: [
    { name: 'HealthCheckRequest', field: [textField('service', 1)] },
    CHECK_RESPONSE,
    { name: 'HealthListRequest' },
    LIST_RESPONSE,
  ],
  service: [
    {
      name: 'Health',
      method: [
        { name: 'Check', inputType: `${PACKAGE}.HealthCheckRequest`, outputType: `${PACKAGE}.HealthCheckResponse` },
        {
          name: 'Watch',
          inputType: `${PACKAGE}.HealthCheckRequest`,
          outputType: `${PACKAGE}.HealthCheckResponse`,
          serverStreaming: true,
        },
        { name: 'List', inputType: `${PACKAGE}.HealthListRequest`, outputType: `${PACKAGE}.HealthListResponse` },
      ],
    },
  ],
});

const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [healthFile] }));
const health = registry.getService(`${PACKAGE.slice(1)}.Health`);
if (health === undefined) throw new Error('the descriptor of health names no service');

/** `grpc.health.v1.Health`. */
export const healthService: DescService = health;
