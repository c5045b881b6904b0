import { expect, test } from '@jest/globals';
import { freePorts } from './free-ports.ts';

test('no port is given out twice, even by calls that run at the same time', async () => {
  const calls = await Promise.all(Array.from({ length: 25 }, async () => freePorts(8)));
  const ports = calls.flat();
  expect(new Set(ports).size).toBe(ports.length);
});
