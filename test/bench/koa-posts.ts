import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The folder whose packages the program uses. */
const PACKAGES = path.join(import.meta.dirname, '../../services/gateway');

/**
 * Koa and its router with one route that reads and parses the body of a create, and stores nothing. With an upstream it
 * posts the order on, over connections that stay open, and answers with the upstream's id.
 */
const PROGRAM = `
import Koa from 'koa';
import Router from '@koa/router';
import { Pool } from 'undici';
const [, origin] = process.argv;
const upstream = origin === undefined ? undefined : new Pool(origin, { connections: 64 });
const router = new Router();
const bodyOf = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
};
const post = async (order) => {
  const { body } = await upstream.request({
    method: 'POST', path: '/v2/video_generation', headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  return (await body.json()).task_id;
};
router.post('/v1/videos', async (context) => {
  const order = await bodyOf(context.req);
  const id = upstream === undefined ? 'task_1' : await post(order);
  const { model, seconds, size } = order;
  context.body = {
    id, task_id: id, object: 'video', model, status: 'queued', progress: 0, created_at: 1790000000, seconds, size,
  };
});
const server = new Koa().use(router.routes()).listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface KoaPosts {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** Runs the application in a process of its own, like the product. Without an upstream it calls nothing. */
export async function startKoaPosts(upstream?: string): Promise<KoaPosts> {
  const origins = upstream === undefined ? [] : [`http://${upstream}`];
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...origins], {
    cwd: PACKAGES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), pid: child.pid!, stop: () => child.kill('SIGKILL') };
}
