import { toBinary } from '@bufbuild/protobuf';
import type { DescFile } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, file_google_protobuf_duration } from '@bufbuild/protobuf/wkt';
import type { Server } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { errorDetailsFile } from './error-details-descriptor.ts';
import { healthFile } from './health-descriptor.ts';
import type { Binding } from './service.ts';

/** Server reflection from the descriptors: the services, health and the details of refusals, which no method names. */
export function addReflection(server: Server, bindings: readonly Binding[]): void {
  const files = new Set<DescFile>();
  for (const file of [
    ProblemSchema.file,
    file_google_protobuf_duration,
    ...bindings.map(({ service }) => service.file),
  ])
    collect(file, files);
  const fileDescriptorProtos = [healthFile, errorDetailsFile, ...[...files].map(({ proto }) => proto)].map((proto) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
  new ReflectionService({
    reelgate: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos } as never,
  }).addToServer(server);
}

function collect(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  into.add(file);
  for (const dependency of file.dependencies) collect(dependency, into);
}
