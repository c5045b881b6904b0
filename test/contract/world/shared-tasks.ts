import { contextIr, generation } from '../rows/bodies.ts';
import { post } from '../engine/row.ts';
import type { Request } from '../engine/row.ts';
import { send } from '../engine/run-row.ts';
import { setTimeout as wait } from 'node:timers/promises';
import type { World } from './world.ts';

const END_TIMEOUT_MS = 600_000;
const PAUSE_MS = 200;

/** Tasks that many rows read and none changes: how they are made, and how they end. */
const TASKS: Readonly<Record<string, readonly [request: Request, end: string]>> = {
  video: [post('/v2/video_generation', generation()), 'completed'],
  'compat-video': [
    post('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '4', size: '1280x720' }),
    'completed',
  ],
  '2k-video': [post('/v2/video_generation', generation({ resolution: '2K' })), 'completed'],
  'context-ir': [post('/v2/h3_context_ir', contextIr()), 'completed'],
  'failed-video': [post('/v2/video_generation', generation({}, '[fail:1027] a red boat')), 'failed'],
  'running-video': [post('/v2/video_generation', generation({}, '[never] a red boat')), 'in_progress'],
  'queued-video': [post('/v2/video_generation', generation({}, '[queue:1h] a red boat')), 'queued'],
  'other-video': [post('/v2/video_generation', generation(), { as: 'other' }), 'completed'],
};

/** Makes each task when a row first needs it. */
export function sharedTasks(world: () => World): (name: string) => Promise<string> {
  const made = new Map<string, Promise<string>>();
  return (name) => {
    const [request, end] = TASKS[name] ?? [];
    if (request === undefined || end === undefined) throw new Error(`nothing is called {{${name}}}`);
    const found = made.get(name) ?? make(world(), request, end);
    made.set(name, found);
    return found;
  };
}

async function make(world: World, request: Request, end: string): Promise<string> {
  const deadline = performance.now() + END_TIMEOUT_MS;
  const created = await send(request, world);
  const { task_id: taskId } = (created.json ?? {}) as { readonly task_id?: string };
  if (taskId === undefined) throw new Error(`a shared task was not made: ${created.text}`);
  for (;;) {
    const read = await send({ method: 'GET', path: `/v1/videos/${taskId}`, as: request.as ?? 'main' }, world);
    const { status } = (read.json ?? {}) as { readonly status?: string };
    if (status === end) return taskId;
    if (status === 'failed' || status === 'completed' || performance.now() > deadline)
      throw new Error(`a shared task is ${read.text}, expected ${end}`);
    await wait(PAUSE_MS);
  }
}
