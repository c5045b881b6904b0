import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The folder whose packages the program uses. */
const PACKAGES = path.join(import.meta.dirname, '../../services/gateway');

/**
 * The smallest relay that these packages allow: it passes a body and its answer on, without tokens or money.
 */
const PROGRAM = `
import Koa from 'koa';
import { Pool } from 'undici';
const pool = new Pool('http://127.0.0.1:' + process.argv[1]);
const app = new Koa();
app.use((context) => new Promise((resolve, reject) => {
  const { req, res } = context;
  const parts = [];
  context.respond = false;
  req.on('data', (part) => parts.push(part)).on('end', () => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer some-key' };
    pool.dispatch({ method: 'POST', path: context.url, headers, body: Buffer.concat(parts) }, {
      onRequestStart() {},
      onResponseStart(_controller, status, { 'content-type': type, 'content-length': length }) {
        res.writeHead(status, { 'content-type': type, ...(length === undefined ? {} : { 'content-length': length }) });
      },
      onResponseData(controller, part) {
        if (!res.write(part)) { controller.pause(); res.once('drain', () => controller.resume()); }
      },
      onResponseEnd() { res.end(); resolve(); },
      onResponseError(_controller, error) { res.destroy(); reject(error); },
    });
  });
}));
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface BareRelay {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** Runs the relay in a process of its own, like the product. */
export async function startBareRelay(upstreamPort: number): Promise<BareRelay> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, String(upstreamPort)], {
    cwd: PACKAGES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') };
}
