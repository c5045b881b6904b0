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

/** A renderer whose videos the test finishes. */
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

test('the queue renders one video at a time, in the order of the requests', async () => {
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

test('equal orders are rendered once, whether the video is still awaited or already kept', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, roomy);
  const both = [queue.render(anOrder('a')), queue.render(anOrder('a'))];
  await settled();
  started[0]?.finish();
  await Promise.all(both);

  await queue.render(anOrder('a'));

  expect(started).toHaveLength(1);
});

test('a failed rendering does not delay the next video', async () => {
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

test('the queue drops the oldest videos when memory is full, and renders them again at the next request', async () => {
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

test('a full queue accepts only orders that it already has', async () => {
  const { render, started } = byHand();
  const queue = renderQueue(render, running, { ...roomy, waitingMax: 1 });
  const waiting = queue.render(anOrder('a'));

  const room = [queue.hasRoomFor(anOrder('a')), queue.hasRoomFor(anOrder('b'))];
  await settled();
  started[0]?.finish();
  await waiting;

  expect([room, queue.hasRoomFor(anOrder('b'))]).toEqual([[true, false], true]);
});

test('the queue begins no rendering after the stop', async () => {
  const stopping = new AbortController();
  const { render, started } = byHand();
  const queue = renderQueue(render, stopping.signal, roomy);
  stopping.abort(new Error('stopped'));

  await expect(queue.render(anOrder('a'))).rejects.toThrow('stopped');
  expect(started).toEqual([]);
});
