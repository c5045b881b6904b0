import { setTimeout as wait } from 'node:timers/promises';
import { CHANNEL } from '../harness/test-config.ts';
import type { ConsoleWorld } from './console-world.ts';

/** Only ends a test that hangs: no verdict depends on it. */
const SETTLED_MS_MAX = 180_000;
const LOOK_MS = 200;

/** Makes something for each page to show, and returns the ids that their addresses need. */
export async function fillConsole(world: ConsoleWorld): Promise<Readonly<Record<string, string>>> {
  const { api, receiver } = world;
  receiver.answer('/broken', 500);
  const make = (prompt: string) =>
    api('/v1/videos', { method: 'POST', body: { model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' } });
  const endpoint = (name: string, path: string) =>
    api('/v1/webhook_endpoints', {
      method: 'POST',
      body: { name, url: receiver.url(path), event_types: ['video.completed', 'video.failed'] },
    });
  const broken = await endpoint('broken receiver', '/broken');
  await endpoint('working receiver', '/working');
  const done = await make('a red boat at dawn');
  await make('a failing boat [fail:1026]');
  await make('a boat without end [never]');
  await make('a boat in doubt [unknown:paused]');
  const job = await api('/async/v1/chat/completions', {
    method: 'POST',
    body: { model: 'sandbox-chat', messages: [{ role: 'user', content: 'hello' }] },
  });
  await until(async () => (await api(`/v1/videos/${done.id}`)).status === 'completed');
  const deliveries = async (): Promise<readonly { readonly id: string }[]> =>
    (await api(`/v1/webhook_endpoints/${String(broken.id)}/deliveries`)).data;
  await until(async () => (await deliveries()).length > 0);
  const [delivery] = await deliveries();
  return {
    taskId: done.id,
    endpointId: broken.id,
    deliveryId: delivery?.id ?? '',
    accountId: 'demo',
    jobId: String(job.id),
    channelId: CHANNEL,
    subject: CHANNEL,
    alert: 'ReelgateNoChannel',
  };
}

/** Asks until it holds, for a bounded time. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SETTLED_MS_MAX;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await wait(LOOK_MS);
  }
}
