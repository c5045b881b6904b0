import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports of outgoing connections, so that no such connection takes a port before its use. */
const FIRST_PORT = 10_000;
/** Each of the test processes that run beside one another has its own range; all ranges end below port 32,768. */
const PORTS_A_WORKER = 2500;
const WORKERS = 9;
const TRIES_A_PORT = 50;

/** A port may be given out long before its program listens on it, so each is given out once in a test file. */
const given = new Set<number>();

/** Ports of the loopback address that are free at this moment and that no earlier call has returned. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const worker = Number(process.env['JEST_WORKER_ID'] ?? '0') % WORKERS;
  const first = FIRST_PORT + worker * PORTS_A_WORKER;
  const free: number[] = [];
  for (let tries = 0; free.length < count; tries += 1) {
    if (tries === count * TRIES_A_PORT) throw new Error(`no ${count} free ports from ${first}`);
    const port = first + randomInt(PORTS_A_WORKER);
    if (given.has(port)) continue;
    // Before the await, so that a call at the same time does not choose the same port.
    given.add(port);
    if (await isFree(port)) free.push(port);
  }
  return free;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
