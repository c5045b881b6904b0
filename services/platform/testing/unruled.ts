import { clearExtension, clone, create, createFileRegistry } from '@bufbuild/protobuf';
import type { DescService } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { field as fieldRules } from '@reelgate/proto/rules/v1/rules';
import { dependenciesOf } from './with-rules.ts';

/** A service without the rules of the fields of its file, so that a test of the transports can send anything. */
export function unruled<S extends DescService>(service: S): S {
  const file = clone(FileDescriptorProtoSchema, service.file.proto);
  for (const { field } of file.messageType)
    for (const { options } of field) if (options !== undefined) clearExtension(options, fieldRules);
  const others = [...new Set(dependenciesOf(service.file))].map(({ proto }) => proto);
  const set = create(FileDescriptorSetSchema, { file: [...others, file] });
  return createFileRegistry(set).getService(service.typeName) as S;
}
