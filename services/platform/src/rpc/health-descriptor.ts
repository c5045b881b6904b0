import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import type { DescriptorProtoSchema, FieldDescriptorProtoSchema, FileDescriptorProto } from '@bufbuild/protobuf/wkt';

const PACKAGE = '.grpc.health.v1';

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type Message = MessageInitShape<typeof DescriptorProtoSchema>;

const text = (name: string, number: number): Field => ({
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
      value: ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'].map((name, number) => ({ name, number })),
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
      field: [text('key', 1), inner('value', 2, 'HealthCheckResponse')],
    },
  ],
};

/**
 * `grpc/health/v1/health.proto` for reflection. The descriptor of the loader has type names that strict clients cannot
 * resolve.
 */
export const healthFile: FileDescriptorProto = create(FileDescriptorProtoSchema, {
  name: 'grpc/health/v1/health.proto',
  package: PACKAGE.slice(1),
  syntax: 'proto3',
  messageType: [
    { name: 'HealthCheckRequest', field: [text('service', 1)] },
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
