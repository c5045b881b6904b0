import { expect, test } from '@jest/globals';
import { dialects } from '../../services/gateway/src/dialects/index.ts';
import { FIELDS } from './fields.ts';

/** Creates whose bodies have no field for the address of a medium. */
const TAKES_NO_MEDIA = ['/v1/videos/{video_id}/remix'];

const creates = dialects.flatMap((dialect) => dialect.creates.map(({ path }) => path));

test.each(creates)('the create at %s is attacked through its media fields, or takes no media', (path) => {
  const isAttacked = Object.values(FIELDS).some(({ target }) => target === path);

  expect([path, isAttacked]).toEqual([path, !TAKES_NO_MEDIA.includes(path)]);
});

test('each create that takes no media exists', () => {
  expect(creates).toEqual(expect.arrayContaining(TAKES_NO_MEDIA));
});
