import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The folder whose packages the program uses. */
const PACKAGES = path.join(import.meta.dirname, '../../services/gateway');

/** Koa with one route that gives an object like that of a status read, without tokens, limits, logs or metrics. */
const PROGRAM = `
import Koa from 'koa';
import Router from '@koa/router';
const router = new Router();
router.get('/v1/videos/:task_id', (context) => {
  context.body = {
    id: context.params.task_id, task_id: context.params.task_id, object: 'video', model: 'Alpha-H3',
    status: 'in_progress', progress: 0, created_at: 1790000000, seconds: '5', size: '1280x720',
  };
});
const app = new Koa().use(router.routes());
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface BareKoa {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** Runs the application in a process of its own, like the product. */
export async function startBareKoa(): Promise<BareKoa> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: PACKAGES,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), pid: child.pid ?? 0, stop: () => child.kill('SIGKILL') };
}
