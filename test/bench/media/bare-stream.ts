import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The smallest server: one file, as a stream, over HTTP. It runs in its own process, like the product. */
const PROGRAM = `
const { createReadStream, statSync } = require('node:fs');
const { createServer } = require('node:http');
const file = process.argv[1];
const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': statSync(file).size });
  createReadStream(file).pipe(response);
}).listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface BareStream {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startBareStream(file: string): Promise<BareStream> {
  const child = spawn(process.execPath, ['-e', PROGRAM, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    port: Number(line.toString()),
    pid: child.pid!,
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
