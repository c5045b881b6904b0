import { create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptionsSchema,
  StringValueSchema,
  file_google_protobuf_descriptor,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import type { MethodOptions } from '@bufbuild/protobuf/wkt';
import { FieldRulesSchema, field, file_reelgate_rules_v1_rules } from '@reelgate/proto/rules/v1/rules';
import { AccessSchema, Scope, access } from '@reelgate/proto/access/v1/access';

const PACKAGE = 'reelgate.testing.v1';

// A type and not an interface, because GenService wants an index signature.

type StreamMethods = {
  /** Each letter of the text. */
  readonly spell: {
    methodKind: 'server_streaming';
    input: typeof StringValueSchema;
    output: typeof StringValueSchema;
  };
  /** One text of all texts. */
  readonly join: {
    methodKind: 'client_streaming';
    input: typeof StringValueSchema;
    output: typeof StringValueSchema;
  };
};

/**
 * A service with one stream in each direction, for tests of the transports. The value of a message is the account that
 * it is about.
 */
export const StreamService = streamService(`.${StringValueSchema.typeName}`) as GenService<StreamMethods>;

/** The same with a rule: a value has at most three characters. */
export const RuledStreamService = streamService(`.${PACKAGE}.RuledText`) as GenService<StreamMethods>;

function streamService(text: string): DescService {
  const file = create(FileDescriptorProtoSchema, {
    name: 'reelgate/testing/v1/stream_service.proto',
    package: PACKAGE,
    syntax: 'proto3',
    dependency: [file_google_protobuf_wrappers, file_reelgate_rules_v1_rules].map(({ proto }) => proto.name),
    messageType: [ruledText()],
    service: [
      {
        name: 'StreamService',
        method: [
          { name: 'Spell', inputType: text, outputType: text, serverStreaming: true, options: options() },
          { name: 'Join', inputType: text, outputType: text, clientStreaming: true, options: options() },
        ],
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, {
    file: [
      file_google_protobuf_descriptor.proto,
      file_google_protobuf_wrappers.proto,
      file_reelgate_rules_v1_rules.proto,
      file,
    ],
  });
  return createFileRegistry(set).getService(`${PACKAGE}.StreamService`)!;
}

function ruledText() {
  const rules = create(FieldOptionsSchema);
  setExtension(rules, field, create(FieldRulesSchema, { maxLen: 3 }));
  return {
    name: 'RuledText',
    field: [{ name: 'value', jsonName: 'value', number: 1, label: Label.OPTIONAL, type: Type.STRING, options: rules }],
  };
}

function options(): MethodOptions {
  const made = create(MethodOptionsSchema);
  setExtension(
    made,
    access,
    create(AccessSchema, { scope: Scope.TASKS_READ, whose: { case: 'accountField', value: 'value' } }),
  );
  return made;
}
