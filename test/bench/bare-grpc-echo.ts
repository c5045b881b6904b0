import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The smallest unary call of grpc-js: the answer is the bytes of the request, and nothing is parsed. */
const PROGRAM = `
import grpc from '@grpc/grpc-js';
const bytes = { requestSerialize: (it) => it, requestDeserialize: (it) => it, responseSerialize: (it) => it, responseDeserialize: (it) => it };
const server = new grpc.Server();
server.addService(
  { echo: { path: '/bare.Echo/Echo', requestStream: false, responseStream: false, ...bytes } },
  { echo: (call, done) => done(null, call.request) },
);
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
`;

export interface BareEcho {
  readonly address: string;
  readonly path: string;
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
    path: '/bare.Echo/Echo',
    stop: () => {
      child.kill('SIGKILL');
    },
  };
}
