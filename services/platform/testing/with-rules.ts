import { clearExtension, clone, create, createFileRegistry, getOption, setExtension } from '@bufbuild/protobuf';
import type { DescFile, DescMethod, DescService, MessageInitShape } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema, MethodOptionsSchema } from '@bufbuild/protobuf/wkt';
import { AccessSchema, access } from '@reelgate/proto/access/v1/access';
import type { Access } from '@reelgate/proto/access/v1/access';

export type RuleOf = (method: DescMethod, rule: Access) => MessageInitShape<typeof AccessSchema> | undefined;

/** The same service with other access rules for its RPCs, or with none. */
export function withRules<S extends DescService>(service: S, ruleOf: RuleOf): S {
  const file = clone(FileDescriptorProtoSchema, service.file.proto);
  const methods = file.service.find(({ name }) => name === service.name)!.method;
  for (const [index, proto] of methods.entries()) {
    const method = service.methods[index]!;
    const rule = ruleOf(method, getOption(method, access));
    proto.options ??= create(MethodOptionsSchema);
    if (rule === undefined) clearExtension(proto.options, access);
    else setExtension(proto.options, access, create(AccessSchema, rule));
  }
  const others = [...new Set(dependenciesOf(service.file))].map(({ proto }) => proto);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...others, file] })).getService(
    service.typeName,
  ) as S;
}

export function dependenciesOf({ dependencies }: DescFile): readonly DescFile[] {
  return dependencies.flatMap((file) => [...dependenciesOf(file), file]);
}
