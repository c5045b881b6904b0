import { describe, expect, test } from '@jest/globals';
import type { TryModel } from '../../../api/try.ts';
import { aTaskView } from '../../../testing/a-task.ts';
import {
  toCreateBody,
  toEstimateBody,
  firstOrder,
  listMedia,
  repeatOrder,
  parseOrder,
  uploadName,
  withOrderField,
  withMedia,
  withModel,
  withoutMedia,
} from './try-order.ts';
import type { Upload } from './try-order.ts';

const alpha: TryModel = {
  id: 'Alpha-H3',
  duration: { min: 4, max: 15 },
  resolutions: ['768P', '2K'],
  ratios: ['adaptive', '16:9'],
  defaults: { duration: 5, resolution: '768P', ratio: '16:9' },
};
const beta: TryModel = {
  ...alpha,
  id: 'Beta-V1',
  duration: { min: 6, max: 10 },
  resolutions: ['480P'],
  ratios: ['16:9'],
};
const first = { ...firstOrder(alpha), prompt: 'a boat' };
const boat: Upload = { name: 'boat.png', type: 'image/png', bytes: 3, dataUrl: 'data:image/png;base64,Qk9B' };
const uploads = new Map([['upload:boat.png', boat]]);

test('a form begins with the defaults of the model', () => {
  expect(firstOrder(alpha)).toEqual({ model: 'Alpha-H3', prompt: '', duration: 5, resolution: '768P', ratio: '16:9' });
});

test('another model keeps what it takes, and has its own values for the rest', () => {
  expect(
    withModel(
      { ...first, duration: 8, resolution: '2K', seed: 7 },
      { ...beta, defaults: { ...beta.defaults, resolution: '480P' } },
    ),
  ).toEqual({ ...first, model: 'Beta-V1', duration: 8, resolution: '480P', seed: 7 });
});

test('an empty field is left out of the body, but for the prompt', () => {
  expect(withOrderField({ ...first, seed: 7 }, 'seed', '')).toEqual(first);
  expect(withOrderField(first, 'prompt', '')).toEqual({ ...first, prompt: '' });
});

describe('media', () => {
  test('a single image is the first frame, and every other one a reference', () => {
    const order = withMedia(
      withMedia(withMedia(first, 'image', 'https://x/1'), 'image', 'https://x/2'),
      'video',
      'https://x/3',
    );

    expect(listMedia(order).map(({ role, url }) => [role, url])).toEqual([
      ['first_frame', 'https://x/1'],
      ['reference_image', 'https://x/2'],
      ['reference_video', 'https://x/3'],
    ]);
    expect(listMedia(withoutMedia(order, 0))).toHaveLength(2);
  });

  test('the bytes of a file stand in the body alone, and an estimate has none', () => {
    const order = withMedia(first, 'image', 'upload:boat.png');
    const image = (url: string) => [{ type: 'image_url', role: 'first_frame', image_url: { url } }];

    expect(order['content']).toEqual(image('upload:boat.png'));
    expect(toCreateBody(order, uploads)['content']).toEqual(image(boat.dataUrl));
    expect(toEstimateBody(order, uploads)['content']).toEqual(image('data:image/png;base64,AAAA'));
  });

  test('a second file of the same name gets a name of its own', () => {
    expect(uploadName(uploads, 'boat.png')).toBe('upload:2/boat.png');
  });
});

test('an estimate does not wait for the prompt', () => {
  expect(toEstimateBody({ ...first, prompt: ' ' }, new Map())['prompt']).toBe('…');
});

test('a task fills the form in, without what is not kept', () => {
  const view = aTaskView();
  const { order, missing } = repeatOrder({
    task: {
      ...view.task,
      references: [
        { role: 'first_frame', kind: 'image', url: 'https://x/1' },
        { role: 'reference_image', kind: 'image' },
      ],
      settings: { seed: 7, size: '1280x720', source_task_id: 'task_0' },
    },
  });

  expect({ order, missing }).toEqual({
    order: {
      model: 'Alpha-H3',
      prompt: 'a <b>boat</b>',
      duration: 5,
      resolution: '768P',
      ratio: '16:9',
      content: [{ type: 'image_url', role: 'first_frame', image_url: { url: 'https://x/1' } }],
      seed: 7,
    },
    missing: 1,
  });
});

test.each(['[]', '1', 'null', '{'])('%s is no order', (text) => {
  expect(parseOrder(text)).toHaveProperty('fault');
});
