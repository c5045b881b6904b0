import { expect, test } from '@jest/globals';
import { gateAnswer } from './call-sink.ts';
import type { CallSink } from './call-sink.ts';

/** A client's sink that notes what it gets. */
function notingSink(): { readonly deeds: string[]; readonly sink: CallSink } {
  const deeds: string[] = [];
  const sink: CallSink = {
    begin: () => void deeds.push('head'),
    write: (chunk) => {
      deeds.push(chunk.toString());
      process.nextTick(() => deeds.push('flush'));
      return true;
    },
    onDrain: () => undefined,
    end: () => void deeds.push('end'),
    broken: () => void deeds.push('broken'),
  };
  return { deeds, sink };
}

test('what was kept is on its way to the client before the upstream goes on', async () => {
  const { deeds, sink } = notingSink();
  const gate = Promise.withResolvers<undefined>();
  const held = gateAnswer({ sink, gone: new AbortController().signal }, gate.promise).sink;
  const resumed = new Promise<void>((resolve) => {
    held.onDrain(() => {
      deeds.push('resume');
      resolve();
    });
  });
  held.begin(200, {});
  const goesOn = held.write(Buffer.from('first'));
  gate.resolve(undefined);
  await resumed;

  expect(goesOn).toBe(false);
  expect(deeds).toEqual(['head', 'first', 'flush', 'resume']);
});

test('nothing of an answer is shown if the gate never opens, and its call is cancelled', async () => {
  const { deeds, sink } = notingSink();
  const held = gateAnswer({ sink, gone: new AbortController().signal }, Promise.reject(new Error('refused')));
  held.sink.begin(200, {});
  held.sink.end(Buffer.from('answer'), {});
  await new Promise((resolve) => setImmediate(resolve));

  expect([deeds, held.gone.aborted]).toEqual([[], true]);
});
