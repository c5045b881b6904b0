import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { exchangeEnd } from './http-exchange.ts';

function opened(isAnswered: boolean) {
  const response = Object.assign(new EventEmitter(), { writableFinished: isAnswered }) as unknown as ServerResponse;
  return { response, end: exchangeEnd(response) };
}

test('one listener on the response serves every part', () => {
  const { response, end } = opened(true);
  const done: string[] = [];
  for (const part of ['log', 'body', 'call']) end.whenOver(() => done.push(part));
  end.gone();
  expect(response.listenerCount('close')).toBe(1);

  response.emit('close');
  expect(done).toEqual(['log', 'body', 'call']);
});

test('work for the end of an exchange that is over runs at once', () => {
  const { response, end } = opened(true);
  response.emit('close');
  let isDone = false;
  end.whenOver(() => {
    isDone = true;
  });

  expect(isDone).toBe(true);
});

test.each([
  ['a client that left before its answer is gone', false, true],
  ['a client that has its answer is not gone', true, false],
])('%s, whether the signal exists before the end or not', (_what, isAnswered, isGone) => {
  const early = opened(isAnswered);
  const signal = early.end.gone();
  expect(signal.aborted).toBe(false);
  early.response.emit('close');
  const late = opened(isAnswered);
  late.response.emit('close');

  expect([signal.aborted, late.end.gone().aborted]).toEqual([isGone, isGone]);
});
