import { describe, expect, test } from '@jest/globals';
import { aSound, aText, aVideo, anImage, anOrder } from '../../testing/orders.ts';
import { isVisible } from './model.ts';
import { isMedia, isUpstreamFile, listMedia, resolveRole } from './order.ts';

test('the media of an order are its items other than texts, in their order', () => {
  const order = anOrder({ content: [anImage('first_frame'), aText(), anImage('last_frame')] });

  expect(listMedia(order)).toEqual([anImage('first_frame'), anImage('last_frame')]);
  expect(isMedia(aText())).toBe(false);
});

describe('the role of a media item', () => {
  test.each([
    [anImage(), 'first_frame'],
    [anImage('last_frame'), 'last_frame'],
    [aVideo(), undefined],
    [aVideo('base_video'), 'base_video'],
    [aSound(), undefined],
  ])('of %j is %s', (item, role) => {
    expect(resolveRole(item)).toBe(role);
  });
});

describe('an upstream file', () => {
  test.each(['asset://a-1', 'mm_file://424010985738629', `asset://${'x'.repeat(256)}`])('is %s', (url) => {
    expect(isUpstreamFile({ media: 'image', url })).toBe(true);
  });

  test.each([
    'https://files.example/asset://a',
    'asset://',
    'asset://a/../b',
    'asset://a?b',
    'ASSET://a',
    'mm_file://a b',
    `asset://${'x'.repeat(257)}`,
    'file:///etc/passwd',
    '',
    undefined,
  ])('is not %s', (url) => {
    expect(isUpstreamFile({ media: 'image', url })).toBe(false);
  });
});

describe('a model', () => {
  test('is visible by its name or by the star, and not by a similar name', () => {
    expect(isVisible(['Alpha-H3'], 'Alpha-H3')).toBe(true);
    expect(isVisible(['*'], 'Alpha-H3')).toBe(true);
    expect(isVisible(['alpha-h3', 'Alpha-*', 'Alpha'], 'Alpha-H3')).toBe(false);
    expect(isVisible([], 'Alpha-H3')).toBe(false);
  });
});
