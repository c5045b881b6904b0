import { toBinary } from '@bufbuild/protobuf';
import type { DescFile } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import type { Binding } from './service.ts';

/** Answers `grpc.health.v1`: a server that listens serves all that it has. */
export function addHealth(server: Server, bindings: readonly Binding[]): void {
  const serving = Object.fromEntries(['', ...bindings.map(({ service }) => service.typeName)].map((name) => [name, 'SERVING' as const]));
  new HealthImplementation(serving).addToServer(server);
}

/** Answers server reflection from the generated descriptors. */
export function addReflection(server: Server, bindings: readonly Binding[]): void {
  const files = new Set<DescFile>();
  for (const { service } of bindings) collect(service.file, files);
  const fileDescriptorProtos = [...files].map((file) => Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)));
  new ReflectionService({ reelgate: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos } as never }).addToServer(server);
}

function collect(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  into.add(file);
  for (const dependency of file.dependencies) collect(dependency, into);
}
