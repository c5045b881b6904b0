import { expect, test } from '@jest/globals';
import type { PictureOrder } from './picture-order.ts';
import { renderQueue, type Render } from './render-queue.ts';

const roomy = { waitingMax: 10, bytesMax: 1000 };
const anOrder = (prompt: string): PictureOrder => ({
  prompt,
  resolution: '768P',
  ratio: '16:9',
  seconds: 5,
  caption: '',
});

type Rendering = { readonly prompt: string; finish(): void; fail(): void };

/** A renderer whose videos are finished by hand. */
function byHand(size = 10): { readonly render: Render; readonly started: readonly Rendering[] } {
  const started: Rendering[] = [];
  const render: Render = ({ prompt }) =>
    new Promise((resolve, reject) => {
      started.push({
        prompt,
        finish: () => {
          resolve(new Uint8Array(size));
        },
        fail: () => {
          reject(new Error('broken'));
        },
      });
    });
  return { render, started };
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
const running = new AbortController().signal;

test('one video is rendered at a time, in the order of asking', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, roomy);
  const all = [queue.render(anOrder('a')), queue.render(anOrder('b'))];

  await settled();
  const first = started.map(({ prompt }) => prompt);
  started[0]?.finish();
  await settled();
  const then = started.map(({ prompt }) => prompt);
  started[1]?.finish();
  await Promise.all(all);

  expect([first, then]).toEqual([['a'], ['a', 'b']]);
});

test('equal orders are rendered once, whether they wait or are kept', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, roomy);
  const both = [queue.render(anOrder('a')), queue.render(anOrder('a'))];
  await settled();
  started[0]?.finish();
  await Promise.all(both);

  await queue.render(anOrder('a'));

  expect(started).toHaveLength(1);
});

test('a broken video does not hold up the next', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, roomy);
  const [broken, next] = [queue.render(anOrder('a')), queue.render(anOrder('b'))];
  broken.catch(() => undefined);
  await settled();
  started[0]?.fail();
  await settled();
  started[1]?.finish();

  await expect(broken).rejects.toThrow('broken');
  await expect(next).resolves.toHaveLength(10);
});

test('what no longer fits is dropped, oldest first, and rendered again when asked for', async () => {
  const prompts: string[] = [];
  const queue = renderQueue(
    ({ prompt }) => Promise.resolve(new Uint8Array(prompts.push(prompt) && 600)),
    running,
    roomy,
  );
  await queue.render(anOrder('a'));
  await queue.render(anOrder('b'));

  await queue.render(anOrder('b'));
  await queue.render(anOrder('a'));

  expect(prompts).toEqual(['a', 'b', 'a']);
});

test('a full queue has room only for what it already has', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, { ...roomy, waitingMax: 1 });
  const waiting = queue.render(anOrder('a'));

  const room = [queue.hasRoomFor(anOrder('a')), queue.hasRoomFor(anOrder('b'))];
  await settled();
  started[0]?.finish();
  await waiting;

  expect([room, queue.hasRoomFor(anOrder('b'))]).toEqual([[true, false], true]);
});

test('nothing is begun after the stop', async () => {
  const stopping = new AbortController();
  const { render, started } = byHand();
  const queue = renderQueue(render, stopping.signal, roomy);
  stopping.abort(new Error('stopped'));

  await expect(queue.render(anOrder('a'))).rejects.toThrow('stopped');
  expect(started).toEqual([]);
});
