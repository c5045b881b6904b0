import { expect, test } from '@jest/globals';
import { cursorBlock, eventBlock, firstBlock } from './message-blocks.ts';

const event = (body: string): string => eventBlock({ cursor: 'evt_1', type: 'job.completed', body });

test('each line of a body is a line of data, whichever way it ends', () => {
  expect(event('{"a":1,\n"b":2,\r\n"c":3,\r"d":4}')).toBe(
    'id: evt_1\nevent: job.completed\ndata: {"a":1,\ndata: "b":2,\ndata: "c":3,\ndata: "d":4}\n\n',
  );
});

test('the other blocks have no data, so that they are no events', () => {
  expect([firstBlock('evt_1'), firstBlock(undefined), cursorBlock('evt_1')]).toEqual([
    'id: evt_1\nretry: 3000\n: events follow\n\n',
    'retry: 3000\n: events follow\n\n',
    'id: evt_1\n\n',
  ]);
});
