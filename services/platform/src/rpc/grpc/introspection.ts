import { createRequire } from 'node:module';
import { toBinary } from '@bufbuild/protobuf';
import type { DescFile } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, file_google_protobuf_duration } from '@bufbuild/protobuf/wkt';
import type { MethodDefinition, Server, UntypedHandleCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import type * as ReflectionPackage from '@grpc/reflection';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { errorDetailsFile } from '../error-details-descriptor.ts';
import { healthFile } from './health-descriptor.ts';
import type { Binding } from '../service.ts';

const require = createRequire(import.meta.url);
const VERSIONS = ['v1', 'v1alpha'];
const METHOD = 'ServerReflectionInfo';

type Reflection = Readonly<MethodDefinition<unknown, unknown>> & { readonly handle: UntypedHandleCall };

/**
 * Server reflection from the descriptors: the services, health and the details of refusals, which no method names. Its
 * package and tables take a tenth of a start and few programs are asked, so the first question loads them.
 */
export function addReflection(server: Server, bindings: readonly Binding[]): void {
  let opened: ReadonlyMap<string, Reflection> | undefined;
  for (const version of VERSIONS) {
    const path = `/grpc.reflection.${version}.ServerReflection/${METHOD}`;
    const reflection = (): Reflection => {
      opened ??= newReflection(bindings);
      const method = opened.get(path);
      if (method === undefined) throw new Error(`no reflection is served at ${path}`);
      return method;
    };
    const definition: MethodDefinition<unknown, unknown> = {
      path,
      requestStream: true,
      responseStream: true,
      requestSerialize: (message) => reflection().requestSerialize(message),
      requestDeserialize: (bytes) => reflection().requestDeserialize(bytes),
      responseSerialize: (message) => reflection().responseSerialize(message),
      responseDeserialize: (bytes) => reflection().responseDeserialize(bytes),
    };
    const handle = (call: never): void => (reflection().handle as (call: never) => void)(call);
    server.addService({ [METHOD]: definition }, { [METHOD]: handle as UntypedHandleCall });
  }
}

/** The methods of the package by their paths. It offers them only to a server, so it is given the part that it uses. */
function newReflection(bindings: readonly Binding[]): ReadonlyMap<string, Reflection> {
  const { ReflectionService } = require('@grpc/reflection') as typeof ReflectionPackage;
  const methods = new Map<string, Reflection>();
  const server: Pick<Server, 'addService'> = {
    addService: (service, { [METHOD]: handle }: UntypedServiceImplementation) => {
      if (handle === undefined) return;
      const definition = service[METHOD] as MethodDefinition<unknown, unknown>;
      methods.set(definition.path, { ...definition, handle });
    },
  };
  const fileDescriptorProtos = serializeDescriptors(bindings);
  new ReflectionService({
    reelgate: { format: 'Protocol Buffer 3 DescriptorProto', type: {}, fileDescriptorProtos },
  }).addToServer(server);
  return methods;
}

function serializeDescriptors(bindings: readonly Binding[]): Buffer[] {
  const files = new Set<DescFile>();
  for (const file of [
    ProblemSchema.file,
    file_google_protobuf_duration,
    ...bindings.map(({ service }) => service.file),
  ])
    collect(file, files);
  return [healthFile, errorDetailsFile, ...[...files].map(({ proto }) => proto)].map((proto) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
}

function collect(file: DescFile, into: Set<DescFile>): void {
  if (into.has(file)) return;
  into.add(file);
  for (const dependency of file.dependencies) collect(dependency, into);
}
