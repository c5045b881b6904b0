import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Takes spans over OTLP/HTTP and drops them. A GET answers with the bytes that have come. */
const PROGRAM = `
import { createServer } from 'node:http';
let bytes = 0;
const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(String(bytes));
  request.on('data', (part) => { bytes += part.length; }).on('end', () => {
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface SpanSink {
  readonly endpoint: string;
  /** The bytes of spans that have come so far. */
  bytes(): Promise<number>;
  stop(): void;
}

/** Runs the sink in a process of its own, so that its work is not the driver's. */
export async function startSpanSink(): Promise<SpanSink> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const endpoint = `http://127.0.0.1:${line.toString().trim()}`;
  return {
    endpoint,
    bytes: async () => Number(await (await fetch(endpoint)).text()),
    stop: () => child.kill('SIGKILL'),
  };
}
