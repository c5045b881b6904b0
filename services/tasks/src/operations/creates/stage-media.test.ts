import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { aText, anImage, anOrder } from '../../../testing/orders.ts';
import { fakeMedia } from '../../../testing/fake-media.ts';
import type { Media } from '../../clients/media.ts';
import { stageReferences } from './stage-media.ts';

const TASK = {
  id: 'task_1',
  accountId: 'acme',
  order: anOrder({
    content: [aText('a fox'), anImage('reference_image'), anImage('reference_image'), anImage('reference_image')],
  }),
};

/** A media service in which each staging follows the test, by the number of the call. */
function mediaThat(...stages: readonly ((signal: AbortSignal) => Promise<never>)[]): Media {
  let calls = 0;
  return {
    ...fakeMedia().port,
    stage: (_request, { signal } = {}) => {
      calls += 1;
      const stage = stages[calls - 1];
      if (stage === undefined || signal === undefined) throw new Error('no such staging');
      return stage(signal);
    },
  };
}

const untilAborted =
  (left: (number: number) => void, number: number) =>
  (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        left(number);
        reject(new Problem({ kind: 'unavailable', reason: 'unavailable', message: 'the caller has left' }));
      });
    });

test('a refused media item aborts the staging of the others, and the refusal names it', async () => {
  const given: number[] = [];
  const left = (number: number): void => {
    given.push(number);
  };
  const refuse = (): Promise<never> =>
    Promise.reject(new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'is no image' }));

  await expect(
    stageReferences(mediaThat(untilAborted(left, 1), refuse, untilAborted(left, 3)), TASK),
  ).rejects.toMatchObject({ reason: 'invalid_media', field: 'content[2].image_url', message: 'is no image' });
  expect(given).toEqual([1, 3]);
});

test('a busy media service aborts the staging of the others too', async () => {
  const given: number[] = [];
  const left = (number: number): void => {
    given.push(number);
  };
  const busy = (): Promise<never> =>
    Promise.reject(
      new Problem({ kind: 'unavailable', reason: 'media_busy', message: 'too many files wait', retryAfterMs: 4000 }),
    );

  await expect(
    stageReferences(mediaThat(busy, untilAborted(left, 2), untilAborted(left, 3)), TASK),
  ).rejects.toMatchObject({ reason: 'media_busy', retryAfterMs: 4000 });
  expect(given).toEqual([2, 3]);
});
