import { create, toBinary } from '@bufbuild/protobuf';
import type { DescMessage, MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { CreateTaskRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import fc from 'fast-check';
import { arbitraryMessage } from '../../testing/arbitrary-message.ts';
import { compileMeasure } from './message-size.ts';

const TYPES = new Map(
  [ProblemSchema, ...TaskService.methods.flatMap(({ input, output }) => [input, output])].map((type) => [
    type.typeName,
    type,
  ]),
);

test.each<[string, DescMessage]>([...TYPES])('no %s is larger than it is measured', (_name, type) => {
  const measure = compileMeasure(type);
  fc.assert(
    fc.property(arbitraryMessage(type), (message) => {
      expect(measure(message)).toBeGreaterThanOrEqual(toBinary(type, message).length);
    }),
  );
});

test('a value for create is measured like its message', () => {
  const measure = compileMeasure(CreateTaskRequestSchema);
  const item = { item: { case: 'media', value: { url: 'https://media.example/a.png' } } } as const;
  const request: MessageInitShape<typeof CreateTaskRequestSchema> = { order: { model: 'a model', content: [item] } };

  expect(measure(request)).toBe(measure(create(CreateTaskRequestSchema, request)));
});

test('fields that a type lacks count, because they are sent too', () => {
  const $unknown = [{ no: 999, wireType: 2, data: new Uint8Array(1000) }];

  expect(compileMeasure(ProblemSchema)({ $unknown })).toBeGreaterThanOrEqual(1000);
});

test('a text counts at its longest, and anything else little', () => {
  const measure = compileMeasure(CreateTaskRequestSchema);
  const empty = measure({});

  expect(empty).toBeLessThan(512);
  expect(measure({ label: 'a'.repeat(1000) }) - empty).toBe(3000);
});
