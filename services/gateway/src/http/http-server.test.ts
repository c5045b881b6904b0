import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { openPublicPort } from './http-server.ts';

const BURST = 1000;
const LISTENING = '0A';
const TRIES_MAX = 200;
const TRY_MS = 10;
const isQueued = process.platform === 'linux' && Number(readLinux('/proc/sys/net/core/somaxconn')) >= BURST;

(isQueued ? test : test.skip)('a burst of connections waits for a busy program, and none is dropped', async () => {
  const port = await openPublicPort({
    isAllowedHost: () => true,
    cors: { origins: [], links: false },
    listen: { host: '127.0.0.1', port: 0 },
    ready: async () => true,
    metrics: undefined,
    starting: (_request, response) => response.end(),
    countConnection: () => undefined,
  });
  const sockets: Socket[] = [];
  try {
    for (let count = 0; count < BURST; count += 1) sockets.push(connect(port.port, '127.0.0.1').on('error', () => 0));
    // The sockets connect in this turn of the event loop. The server accepts none of them before the next one.
    await new Promise((resolve) => {
      process.nextTick(resolve);
    });
    for (let tries = 0; waitingOn(port.port) < BURST && tries < TRIES_MAX; tries += 1)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_MS);

    expect(waitingOn(port.port)).toBe(BURST);
  } finally {
    for (const socket of sockets) socket.destroy();
    await port.stop();
  }
});

function readLinux(file: string): string {
  return readFileSync(file, 'utf8');
}

/** The connections that a listening port has not accepted, by Linux's table. */
function waitingOn(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const row = readLinux('/proc/net/tcp')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find(([, local, , state]) => local === address && state === LISTENING);
  return Number.parseInt(row?.[4]?.split(':')[1] ?? '0', 16);
}
