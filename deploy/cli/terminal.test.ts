import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { newTerminal } from './terminal.ts';
import { whileShowing } from './while-showing.ts';

function streams(isTTY: boolean, columns = 40) {
  const written = { out: '', err: '' };
  const stream = (name: keyof typeof written) => ({
    isTTY,
    columns,
    write: (text: string | Uint8Array): boolean => {
      written[name] += String(text);
      return true;
    },
  });
  return { written, terminal: newTerminal(stream('out'), stream('err')) };
}

test('progress replaces its line on a terminal, and goes to standard error', () => {
  const { written, terminal } = streams(true);
  terminal.progress('one');
  terminal.progress('two');
  terminal.clear();

  expect(written).toEqual({ out: '', err: '\r\u001b[Kone\r\u001b[Ktwo\r\u001b[K' });
});

test('progress is cut to the width of the terminal, because a line that wraps cannot be replaced', () => {
  const { written, terminal } = streams(true, 10);
  terminal.progress('0123456789 and more');

  expect(written.err).toBe('\r\u001b[K012345678');
});

test('a pipe gets no progress and has no width', () => {
  const { written, terminal } = streams(false);
  terminal.progress('one');
  terminal.clear();
  terminal.note('a line');

  expect(written).toEqual({ out: '', err: 'a line\n' });
  expect(terminal.columns).toBeUndefined();
});

test('a long call shows the elapsed time until it ends', async () => {
  const { written, terminal } = streams(true);
  const clock = fakeClock();
  let finish = (_: string): void => undefined;
  const work = new Promise<string>((resolve) => {
    finish = resolve;
  });
  const result = whileShowing(terminal, 'reading', () => work, clock);
  await clock.advance(0);
  for (let step = 0; step < 4; step += 1) await clock.advance(500);
  finish('done');

  expect(await result).toBe('done');
  expect(written.err).toContain('\r\u001b[Kreading  0s\r\u001b[Kreading  0s\r\u001b[Kreading  1s');
  expect(written.err.endsWith('\r\u001b[K')).toBe(true);
});
