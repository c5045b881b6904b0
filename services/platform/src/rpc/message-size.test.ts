import { toBinary } from '@bufbuild/protobuf';
import type { DescMessage } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { CreateTaskRequestSchema, CreateTaskResponseSchema } from '@reelgate/proto/tasks/v1/task_service';
import fc from 'fast-check';
import { arbitraryMessage } from '../../testing/arbitrary-message.ts';
import { mayBeLarger, measureUpTo } from './message-size.ts';

test.each<DescMessage>([CreateTaskRequestSchema, CreateTaskResponseSchema])(
  'no $typeName is larger than it is measured',
  (type) => {
    fc.assert(
      fc.property(arbitraryMessage(type), (message) => {
        expect(measureUpTo(message, Infinity)).toBeGreaterThanOrEqual(toBinary(type, message).length);
      }),
    );
  },
);

test.each<[string, unknown, number, boolean]>([
  ['a text', 'a'.repeat(1000), 3100, false],
  ['a text that can be longer in UTF-8', 'a'.repeat(1000), 2900, true],
  ['bytes', new Uint8Array(1000), 1100, false],
  ['too many bytes', { order: [{ data: new Uint8Array(1000) }] }, 1000, true],
  ['many small fields', Array.from({ length: 100 }, () => 1n), 1000, true],
  ['anything, where there is no bound', 'a'.repeat(1000), Infinity, false],
])('%s', (_name, value, bytes, isLarger) => {
  expect(mayBeLarger(value, bytes)).toBe(isLarger);
});
