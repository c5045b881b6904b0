import { createConnection } from 'node:net';
import { expect, test } from '@jest/globals';
import { describeWith } from './describe-with.ts';
import type { Launcher } from './launcher.ts';
import { natsServer } from './nats-server.ts';
import { postgresServer } from './postgres-server.ts';
import { redisServer } from './redis-server.ts';

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = createConnection(Number(port), hostname);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

for (const launcher of [postgresServer, redisServer, natsServer] as readonly Launcher[]) {
  describeWith(launcher, 'a launcher', (url) => {
    test('starts a server that answers on the loopback address', async () => {
      expect(new URL(url()).hostname).toBe('127.0.0.1');
      expect(await answers(url())).toBe(true);
    });

    test('starts a second server beside the first, and a second stop does nothing', async () => {
      const second = await launcher.start();
      expect(second?.url).not.toBe(url());

      await second?.stop();
      await second?.stop();

      expect(await answers(second?.url ?? '')).toBe(false);
      expect(await answers(url())).toBe(true);
    });
  });
}
