import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** The methods of a service as grpc-js serves them: their paths, their kinds, and how messages become bytes. */
export function toServiceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      {
        path: `/${service.typeName}/${method.name}`,
        requestStream: method.methodKind === 'client_streaming',
        responseStream: method.methodKind === 'server_streaming',
        requestSerialize: (message: Message) => Buffer.from(toBinary(method.input, message)),
        requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
        responseSerialize: newSerializer(method),
        responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
      },
    ]),
  );
}

/** Serializes each message once, because streams may share it. */
function newSerializer({ methodKind, output }: DescMethod): (message: Message) => Buffer {
  const serialize = (message: Message): Buffer => {
    const { buffer, byteOffset, byteLength } = toBinary(output, message);
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  if (methodKind !== 'server_streaming') return serialize;
  const made = new WeakMap<Message, Buffer>();
  return (message) => {
    const bytes = made.get(message) ?? serialize(message);
    made.set(message, bytes);
    return bytes;
  };
}
