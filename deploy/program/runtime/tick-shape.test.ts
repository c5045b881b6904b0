import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const COLLECTIONS = 8;

/**
 * Keeps the shape, collects the whole heap while no tick waits, and tells whether new ticks have the hidden class from
 * before. A collection can look for references on the stack, so each has a turn of the event loop of its own.
 */
const PROGRAM = `
import { setImmediate } from 'node:timers/promises';
import { keepTickShape } from './tick-shape.ts';
const tick = new WeakRef(await keepTickShape());
for (let count = 0; count < ${COLLECTIONS}; count += 1) {
  await setImmediate();
  gc();
}
const kept = tick.deref();
const next = await keepTickShape();
console.log(JSON.stringify({ keys: Object.keys(kept ?? {}), same: %HaveSameMap(kept, next) }));
`;

test('the hidden class of ticks outlives collections at moments without ticks', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--expose-gc',
      '--allow-natives-syntax',
      '--input-type=module',
      '--eval',
      PROGRAM,
    ],
    { cwd: path.resolve(import.meta.dirname), env: { ...process.env, NODE_OPTIONS: '' } },
  );

  // Beside them a tick has symbols, whose number differs between releases of Node.
  expect(JSON.parse(stdout)).toEqual({ keys: ['callback', 'args'], same: true });
});
