import { createClient } from 'redis';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Secret } from '@reelgate/platform/secret';
import { WINDOW_MS, judge, windowAt } from '../domain/sliding-window.ts';
import type { RateCounters } from './rate-counters.ts';

const CONNECT_TIMEOUT_MS = 2000;
const COMMAND_TIMEOUT_MS = 250;
const RECONNECT_MAX_MS = 800;

/** Reads both windows and counts the request if it fits: the rule of domain/sliding-window as one atomic step. */
const TAKE = `
local previous = tonumber(redis.call('GET', KEYS[1]) or '0')
local current = tonumber(redis.call('GET', KEYS[2]) or '0')
local window = tonumber(ARGV[1])
if (tonumber(ARGV[3]) - current) * window - previous * (window - tonumber(ARGV[2])) >= window then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], 2 * window)
end
return { previous, current }`;

export interface RedisRateCountersOptions {
  readonly url: Secret;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts while Redis is unreachable, so that an outage of Redis does not stop the gateway. */
  readonly fallback: RateCounters;
}

/** The rate counters that all replicas of the gateway share. */
export async function openRedisRateCounters({
  url,
  clock,
  log,
  fallback,
}: RedisRateCountersOptions): Promise<RateCounters> {
  const client = createClient({
    url: url.reveal(),
    disableOfflineQueue: true,
    commandOptions: { timeout: COMMAND_TIMEOUT_MS },
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) => Math.min(RECONNECT_MAX_MS, 100 * 2 ** Math.min(retries, 10)),
    },
  });
  let down = false;
  client.on('error', (error: unknown) => {
    if (!down) log.warn({ err: error }, 'redis is unreachable; each replica counts requests on its own');
    down = true;
  });
  client.on('ready', () => {
    if (down) log.info({}, 'redis is reachable again');
    down = false;
  });
  await tryToConnect(client);
  return {
    take: async (key, limit) => {
      if (!client.isReady) return fallback.take(key, limit);
      const { index, elapsedMs } = windowAt(clock.now());
      try {
        const [previous, current] = (await client.eval(TAKE, {
          keys: [nameOf(key, index - 1), nameOf(key, index)],
          arguments: [String(WINDOW_MS), String(elapsedMs), String(limit)],
        })) as [number, number];
        return judge({ previous, current, elapsedMs }, limit);
      } catch (error) {
        log.warn({ err: error }, 'redis could not count a request; this replica counts it on its own');
        return fallback.take(key, limit);
      }
    },
    close: async () => {
      client.destroy();
      await fallback.close();
    },
  };
}

/** The braces keep both windows of a key on the same node of a Redis cluster. */
function nameOf(key: string, index: number): string {
  return `reelgate:rate:{${key}}:${String(index)}`;
}

/** Waits for the first attempt only. If it fails, the client keeps connecting in the background. */
async function tryToConnect(client: {
  connect(): Promise<unknown>;
  once(event: 'error', listener: () => void): unknown;
}): Promise<void> {
  const failed = new Promise<void>((resolve) => {
    client.once('error', resolve);
  });
  await Promise.race([client.connect().catch(() => undefined), failed]);
}
