import { create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { protoCamelCase } from '@bufbuild/protobuf/reflect';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_duration,
} from '@bufbuild/protobuf/wkt';
import type { DescriptorProtoSchema, FieldDescriptorProtoSchema, FileDescriptorProto } from '@bufbuild/protobuf/wkt';

const PACKAGE = '.google.rpc';

type Field = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type Message = MessageInitShape<typeof DescriptorProtoSchema>;

const textField = (name: string, number: number): Field => ({
  name,
  jsonName: name,
  number,
  label: Label.OPTIONAL,
  type: Type.STRING,
});
const inner = (name: string, number: number, typeName: string, label = Label.OPTIONAL): Field => ({
  name,
  jsonName: protoCamelCase(name),
  number,
  label,
  type: Type.MESSAGE,
  typeName,
});

const ERROR_INFO: Message = {
  name: 'ErrorInfo',
  field: [
    textField('reason', 1),
    textField('domain', 2),
    inner('metadata', 3, `${PACKAGE}.ErrorInfo.MetadataEntry`, Label.REPEATED),
  ],
  nestedType: [
    { name: 'MetadataEntry', options: { mapEntry: true }, field: [textField('key', 1), textField('value', 2)] },
  ],
};

const BAD_REQUEST: Message = {
  name: 'BadRequest',
  field: [inner('field_violations', 1, `${PACKAGE}.BadRequest.FieldViolation`, Label.REPEATED)],
  nestedType: [
    { name: 'FieldViolation', field: [textField('field', 1), textField('description', 2), textField('reason', 3)] },
  ],
};

const QUOTA_FAILURE: Message = {
  name: 'QuotaFailure',
  field: [inner('violations', 1, `${PACKAGE}.QuotaFailure.Violation`, Label.REPEATED)],
  nestedType: [{ name: 'Violation', field: [textField('subject', 1), textField('description', 2)] }],
};

/**
 * The part of `google/rpc/error_details.proto` that refusals use. Names and numbers equal Google's, so clients read the
 * details with the messages that they have.
 */
export const errorDetailsFile: FileDescriptorProto = create(FileDescriptorProtoSchema, {
  name: 'google/rpc/error_details.proto',
  package: PACKAGE.slice(1),
  syntax: 'proto3',
  dependency: [file_google_protobuf_duration.proto.name],
  messageType: [
    ERROR_INFO,
    { name: 'RetryInfo', field: [inner('retry_delay', 1, '.google.protobuf.Duration')] },
    QUOTA_FAILURE,
    BAD_REQUEST,
  ],
});

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, { file: [file_google_protobuf_duration.proto, errorDetailsFile] }),
);

export const ErrorInfoSchema = findMessage('ErrorInfo');
export const RetryInfoSchema = findMessage('RetryInfo');
export const QuotaFailureSchema = findMessage('QuotaFailure');
export const BadRequestSchema = findMessage('BadRequest');

function findMessage(name: string): DescMessage {
  const message = registry.getMessage(`${PACKAGE.slice(1)}.${name}`);
  if (message === undefined) throw new Error(`${name} is not in ${errorDetailsFile.name}`);
  return message;
}
