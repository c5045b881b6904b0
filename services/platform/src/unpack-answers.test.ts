import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { until } from '@reelgate/platform/testing/until';
import { unpackAnswers } from './unpack-answers.ts';

const MEBIBYTE = 1024 * 1024;

/** An upstream whose pauses are counted, and a reader that takes one piece at a time. */
function reluctant() {
  const seen = { bytes: 0, pauses: 0, reads: false, ended: false, error: undefined as Error | undefined };
  let reading: Dispatcher.DispatchController | undefined;
  const upstream: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => undefined,
    pause: () => void (seen.pauses += 1),
    resume: () => undefined,
  };
  const handler = unpackAnswers({
    onResponseStart: (controller) => {
      reading = controller;
    },
    onResponseData: (controller, piece) => {
      seen.bytes += piece.length;
      if (!seen.reads) controller.pause();
    },
    onResponseEnd: () => {
      seen.ended = true;
    },
    onResponseError: (_controller, error) => {
      seen.error = error;
    },
  });
  handler.onResponseStart?.(upstream, 200, { 'content-encoding': 'gzip' });
  return { seen, upstream, handler, resume: () => reading?.resume(), abort: (error: Error) => reading?.abort(error) };
}

test('bytes that a reader does not take are not unpacked, and the upstream is paused', async () => {
  const { seen, upstream, handler, resume } = reluctant();
  const content = Buffer.concat([randomBytes(MEBIBYTE), Buffer.alloc(64 * MEBIBYTE)]);
  handler.onResponseData?.(upstream, gzipSync(content));
  handler.onResponseEnd?.(upstream, {});
  await until(() => seen.bytes > 0);
  await new Promise((resolve) => void setTimeout(resolve, 100));

  expect([seen.bytes < 64 * 1024, seen.pauses > 0, seen.ended]).toEqual([true, true, false]);
  seen.reads = true;
  resume();
  await until(() => seen.ended);
  expect(seen).toMatchObject({ bytes: content.length, ended: true });
});

test('a reader that aborts gets the error at once, even while pieces wait, and nothing after it', async () => {
  const { seen, upstream, handler, abort, resume } = reluctant();
  handler.onResponseData?.(upstream, gzipSync(randomBytes(MEBIBYTE)));
  handler.onResponseEnd?.(upstream, {});
  await until(() => seen.bytes > 0);
  const [gone, before] = [new Error('gone'), seen.bytes];
  abort(gone);
  resume();
  await new Promise((resolve) => void setTimeout(resolve, 50));

  expect(seen).toMatchObject({ error: gone, bytes: before, ended: false });
});
