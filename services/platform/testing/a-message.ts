import { create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import type { DescMessage, DescService, FileRegistry, MessageInitShape } from '@bufbuild/protobuf';
import {
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptionsSchema,
  OneofDescriptorProtoSchema,
  OneofOptionsSchema,
  file_google_protobuf_descriptor,
} from '@bufbuild/protobuf/wkt';
import { AccessSchema, Scope, access, file_reelgate_access_v1_access } from '@reelgate/proto/access/v1/access';
import {
  FieldRulesSchema,
  OneofRulesSchema,
  field as fieldOption,
  file_reelgate_rules_v1_rules,
  oneof as oneofOption,
} from '@reelgate/proto/rules/v1/rules';

const PACKAGE = 'reelgate.testing.v1';

export interface FieldSpec {
  /** A scalar, the enum `Colour` (RED, BLUE), or the message with the fields of `inner`. */
  readonly type: 'string' | 'bytes' | 'int32' | 'int64' | 'double' | 'bool' | 'enum' | 'message';
  readonly repeated?: true;
  /** Present although it is zero. */
  readonly optional?: true;
  /** One of the oneof `choice`. */
  readonly chosen?: true;
  readonly deprecated?: true;
  readonly rules?: MessageInitShape<typeof FieldRulesSchema>;
}
export type FieldSpecs = Readonly<Record<string, FieldSpec>>;

export interface MessageSpec {
  readonly fields: FieldSpecs;
  readonly inner?: FieldSpecs;
  readonly choice?: MessageInitShape<typeof OneofRulesSchema>;
}

const TYPES = {
  string: Type.STRING,
  bytes: Type.BYTES,
  int32: Type.INT32,
  int64: Type.INT64,
  double: Type.DOUBLE,
  bool: Type.BOOL,
  enum: Type.ENUM,
  message: Type.MESSAGE,
} as const;
const TYPE_NAMES: Partial<Record<FieldSpec['type'], string>> = {
  enum: `.${PACKAGE}.Colour`,
  message: `.${PACKAGE}.Inner`,
};

/** A message as the compiler of contracts would describe it. */
export function aMessage(spec: MessageSpec): DescMessage {
  return describeFile(spec).getMessage(`${PACKAGE}.Outer`)!;
}

/** A service whose one RPC `Make` takes the message and returns one without content. */
export function aService(spec: MessageSpec): DescService {
  return describeFile(spec).getService(`${PACKAGE}.Maker`)!;
}

/** The access rule of an RPC that a caller of any account may call. */
function anyCaller() {
  const options = create(MethodOptionsSchema);
  const whose = { case: 'noAccount', value: 'a test' } as const;
  setExtension(options, access, create(AccessSchema, { scope: Scope.TASKS_READ, whose }));
  return options;
}

function describeFile({ fields, inner = {}, choice }: MessageSpec): FileRegistry {
  const file = create(FileDescriptorProtoSchema, {
    name: 'reelgate/testing/v1/message.proto',
    package: PACKAGE,
    syntax: 'proto3',
    dependency: [file_reelgate_rules_v1_rules.proto.name, file_reelgate_access_v1_access.proto.name],
    enumType: [
      {
        name: 'Colour',
        value: ['COLOUR_UNSPECIFIED', 'COLOUR_RED', 'COLOUR_BLUE'].map((name, number) => ({ name, number })),
      },
    ],
    messageType: [messageOf('Inner', inner), messageOf('Outer', fields, choice), messageOf('Nothing', {})],
    service: [
      {
        name: 'Maker',
        method: [
          { name: 'Make', inputType: `.${PACKAGE}.Outer`, outputType: `.${PACKAGE}.Nothing`, options: anyCaller() },
        ],
      },
    ],
  });
  const others = [file_google_protobuf_descriptor, file_reelgate_rules_v1_rules, file_reelgate_access_v1_access].map(
    ({ proto }) => proto,
  );
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...others, file] }));
}

function messageOf(name: string, fields: FieldSpecs, choice?: MessageSpec['choice']) {
  const chosen = Object.values(fields).some((field) => field.chosen);
  const oneofs = Object.entries(fields).filter(([, { optional }]) => optional);
  return {
    name,
    field: Object.entries(fields).map(([fieldName, spec], index) => ({
      ...fieldOf(fieldName, index + 1, spec),
      ...(spec.chosen ? { oneofIndex: 0 } : {}),
      ...(spec.optional
        ? { proto3Optional: true, oneofIndex: Number(chosen) + oneofs.findIndex(([one]) => one === fieldName) }
        : {}),
    })),
    oneofDecl: [...(chosen ? [choiceOf(choice)] : []), ...oneofs.map(([one]) => ({ name: `_${one}` }))],
  };
}

function fieldOf(name: string, number: number, { type, repeated, deprecated, rules }: FieldSpec) {
  const options = create(FieldOptionsSchema, deprecated === undefined ? {} : { deprecated });
  if (rules !== undefined) setExtension(options, fieldOption, create(FieldRulesSchema, rules));
  const typeName = TYPE_NAMES[type];
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    options,
    type: TYPES[type],
    label: repeated ? Label.REPEATED : Label.OPTIONAL,
    ...(typeName === undefined ? {} : { typeName }),
  });
}

function choiceOf(rules: MessageSpec['choice']) {
  const options = create(OneofOptionsSchema);
  if (rules !== undefined) setExtension(options, oneofOption, create(OneofRulesSchema, rules));
  return create(OneofDescriptorProtoSchema, { name: 'choice', options });
}
