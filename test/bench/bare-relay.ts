import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** Where its packages are found. */
const PACKAGES = path.join(import.meta.dirname, '../../services/gateway');

/**
 * The least that a relay can be with these packages: it reads a body, sends it on and passes the answer back, without
 * tokens or money.
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
    pool.dispatch({ method: 'POST', path: context.url, headers: { 'content-type': 'application/json', authorization: 'Bearer some-key' }, body: Buffer.concat(parts) }, {
      onRequestStart() {},
      onResponseStart(_controller, status, { 'content-type': type, 'content-length': length }) { res.writeHead(status, { 'content-type': type, ...(length === undefined ? {} : { 'content-length': length }) }); },
      onResponseData(controller, part) { if (!res.write(part)) { controller.pause(); res.once('drain', () => controller.resume()); } },
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

/** Runs it in a process of its own, as the program has one. */
export async function startBareRelay(upstreamPort: number): Promise<BareRelay> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, String(upstreamPort)], {
    cwd: PACKAGES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') };
}
