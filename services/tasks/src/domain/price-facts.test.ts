import { describe, expect, test } from '@jest/globals';
import {
  aContextIr,
  aRegeneration,
  aRegenerationByContent,
  aSound,
  aText,
  aVideo,
  anImage,
  anOrder,
} from '../../testing/orders.ts';
import { priceFacts } from './price-facts.ts';

describe('a generation', () => {
  test('is priced by its model, its resolution and its ordered seconds', () => {
    expect(priceFacts(anOrder({ duration: 7, resolution: '2K' }), undefined)).toEqual({
      priceKey: 'Alpha-H3',
      resolution: '2K',
      seconds: 7,
      inputVideoSeconds: 0,
      images: 0,
    });
  });

  test('counts images of every role, and no videos or sounds, as images', () => {
    const frames = [aText(), anImage('first_frame'), anImage('last_frame')];
    const references = [aText(), anImage('reference_image'), aVideo('reference_video'), aSound('reference_audio')];

    expect(priceFacts(anOrder({ content: frames }), undefined).images).toBe(2);
    expect(priceFacts(anOrder({ content: references }), undefined).images).toBe(1);
  });

  test.each([
    [0, 0],
    [1, 1],
    [5000, 5],
    [5001, 6],
    [14_999, 15],
  ])('counts %i ms of reference video as %i whole seconds', (referenceMs, seconds) => {
    expect(priceFacts(anOrder(), undefined, { referenceMs, baseMs: 0 }).inputVideoSeconds).toBe(seconds);
  });
});

describe('a regeneration', () => {
  test('of a task is priced by the seconds of its source, under its own key', () => {
    expect(priceFacts(aRegeneration(), 9)).toEqual({
      priceKey: 'Alpha-H3__regeneration',
      resolution: '2K',
      seconds: 9,
      inputVideoSeconds: 0,
      images: 0,
    });
  });

  test.each([
    [0, 1],
    [999, 1],
    [1999, 1],
    [5167, 5],
    [15_083, 15],
  ])('of a base video of %i ms is priced as %i seconds', (baseMs, seconds) => {
    expect(priceFacts(aRegenerationByContent(), undefined, { referenceMs: 0, baseMs }).seconds).toBe(seconds);
  });

  test('does not count the original reference videos as input again', () => {
    expect(priceFacts(aRegenerationByContent(), undefined, { referenceMs: 4000, baseMs: 5000 }).inputVideoSeconds).toBe(
      0,
    );
  });
});

test('context-IR is priced under its own key, by its duration alone', () => {
  const order = aContextIr({ content: [aText(), anImage('first_frame')], duration: 4 });

  expect(priceFacts(order, undefined, { referenceMs: 4000, baseMs: 0 })).toEqual({
    priceKey: 'Alpha-H3__context_ir',
    resolution: '',
    seconds: 4,
    inputVideoSeconds: 0,
    images: 0,
  });
});
