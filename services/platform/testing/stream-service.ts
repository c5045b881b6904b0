import { create, createFileRegistry, setExtension } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import type { GenService } from '@bufbuild/protobuf/codegenv2';
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  MethodOptionsSchema,
  StringValueSchema,
  file_google_protobuf_wrappers,
} from '@bufbuild/protobuf/wkt';
import type { MethodOptions } from '@bufbuild/protobuf/wkt';
import { AccessSchema, Scope, access } from '@reelgate/proto/access/v1/access';

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
export const StreamService = streamService() as GenService<StreamMethods>;

function streamService(): DescService {
  const text = `.${StringValueSchema.typeName}`;
  const file = create(FileDescriptorProtoSchema, {
    name: 'reelgate/testing/v1/stream_service.proto',
    package: 'reelgate.testing.v1',
    syntax: 'proto3',
    dependency: [file_google_protobuf_wrappers.proto.name],
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
  const set = create(FileDescriptorSetSchema, { file: [file_google_protobuf_wrappers.proto, file] });
  return createFileRegistry(set).getService('reelgate.testing.v1.StreamService')!;
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
