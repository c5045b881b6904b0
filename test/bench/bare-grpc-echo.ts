import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * The smallest unary calls of grpc-js. Both answer with the request: `/bare.Echo/Bytes` parses nothing,
 * `/bare.Echo/Messages` parses and writes the message with protobuf-es, as every service of messages does.
 */
const PROGRAM = `
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import grpc from '@grpc/grpc-js';
import { GetTaskResponseSchema } from '@reelgate/proto/tasks/v1/task_service';
const unary = (name, serialize, deserialize) => ({
  path: '/bare.Echo/' + name, requestStream: false, responseStream: false,
  requestSerialize: serialize, requestDeserialize: deserialize, responseSerialize: serialize, responseDeserialize: deserialize,
});
const server = new grpc.Server();
const echo = (call, done) => done(null, call.request);
server.addService(
  {
    bytes: unary('Bytes', (it) => it, (it) => it),
    messages: unary('Messages', (it) => Buffer.from(toBinary(GetTaskResponseSchema, it)), (it) => fromBinary(GetTaskResponseSchema, it)),
  },
  { bytes: echo, messages: echo },
);
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
`;

export interface BareEcho {
  readonly address: string;
  stop(): void;
}

/** Runs the echo in a process of its own, like the product. */
export async function startBareEcho(): Promise<BareEcho> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    address: `127.0.0.1:${line.toString().trim()}`,
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}
