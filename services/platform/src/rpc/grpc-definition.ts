import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import type { ServiceDefinition } from '@grpc/grpc-js';
import type { Binding } from './service.ts';

/** The methods of a service as grpc-js serves them: their paths, their kinds, and how messages become bytes. */
export function toServiceDefinition({ service }: Pick<Binding, 'service'>): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      {
        path: `/${service.typeName}/${method.name}`,
        requestStream: method.methodKind === 'client_streaming',
        responseStream: method.methodKind === 'server_streaming',
        requestSerialize: (message: unknown) => Buffer.from(toBinary(method.input, message as never)),
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: newSerializer(method),
        responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
      },
    ]),
  );
}

/** Streams may share a message. Its bytes are made once. */
function newSerializer({ methodKind, output }: DescMethod): (message: unknown) => Buffer {
  const serialize = (message: unknown): Buffer => {
    const { buffer, byteOffset, byteLength } = toBinary(output, message as never);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  if (methodKind !== 'server_streaming') return serialize;
  const made = new WeakMap<object, Buffer>();
  return (message) => {
    const bytes = made.get(message as object) ?? serialize(message);
    made.set(message as object, bytes);
    return bytes;
  };
}
