import type { SecureContextOptions } from 'node:tls';
import { createClient } from 'redis';
import { systemClock } from '../clock.ts';
import { startWorker } from '../lifecycle/worker.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import { rereadTls } from '../tls/reread-tls.ts';
import { TLS_FILES } from '../tls/tls-material.ts';
import type { RedisScript } from './redis-script.ts';

const SECURE = 'rediss://';
const CONNECT_TIMEOUT_MS = 2000;
const DEADLINE_MS = 100;
/** While Redis is away, it is asked this often whether it is back. */
const PROBE_MS = 500;
const RECONNECT_MAX_MS = 800;
/** A connection whose other end has vanished is closed after this time. */
const SILENT_MS_MAX = 5000;
/** Commands that wait for Redis at one time. */
const COMMANDS_MAX = 1000;

export interface RedisCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** One connection to Redis. While Redis is away no caller waits for it. */
export interface RedisLink {
  /** Rejects at the deadline, or at once while Redis is away. */
  run(script: RedisScript, call: RedisCall): Promise<unknown>;
  isAway(): boolean;
  /** Calls the listener at each change, with the reason if Redis is away. */
  onChange(listener: (reason: unknown) => void): void;
  close(): Promise<void>;
}

export interface RedisLinkOptions {
  readonly url: Secret;
  readonly log: Log;
  /** The longest wait for one answer; 100 ms by default. */
  readonly deadlineMs?: number | undefined;
}

/**
 * Resolves after the first try to connect. If it fails, the link keeps connecting in the background. Its deadlines
 * are wall time, whatever the clock of a test says.
 */
export async function openRedisLink({ url, log, deadlineMs = DEADLINE_MS }: RedisLinkOptions): Promise<RedisLink> {
  const client = newClient(url);
  const listeners: ((reason: unknown) => void)[] = [];
  let isAway = false;
  const change = (away: boolean, reason?: unknown): void => {
    if (isAway === away) return;
    isAway = away;
    for (const listener of listeners) listener(reason);
  };
  const within = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await beforeDeadline(work, deadlineMs);
    } catch (error) {
      change(true, error);
      throw error;
    }
  };
  client.on('error', (error: unknown) => {
    change(true, error);
  });
  await firstConnection(client);
  const probes = startWorker({
    name: 'redis',
    clock: systemClock,
    log,
    idleMs: PROBE_MS,
    pass: async () => {
      if (!isAway || !client.isReady) return 0;
      const answer = await within(client.ping()).catch(() => undefined);
      if (answer !== undefined) change(false);
      return 0;
    },
  });
  return {
    isAway: () => isAway,
    onChange: (listener) => void listeners.push(listener),
    run: async (script, call) => {
      if (isAway) throw new Error('redis is away');
      return within(evaluate(client, script, call));
    },
    close: async () => {
      await probes.stop();
      client.destroy();
    },
  };
}

type RedisClient = ReturnType<typeof newClient>;

/** The certificates are those of the start. */
function newClient(url: Secret) {
  const address = url.reveal();
  return createClient({
    url: address,
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_MAX,
    socket: {
      ...(address.startsWith(SECURE) ? { tls: true as const, ...addressTls(address) } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENT_MS_MAX,
      reconnectStrategy: (retries) => Math.min(RECONNECT_MAX_MS, 100 * 2 ** Math.min(retries, 10)),
    },
  });
}

async function evaluate(client: RedisClient, { text, sha }: RedisScript, { keys, args }: RedisCall): Promise<unknown> {
  const options = { keys: [...keys], arguments: args.map(String) };
  try {
    return await client.evalSha(sha, options);
  } catch (error) {
    if (!String(error).includes('NOSCRIPT')) throw error;
    return client.eval(text, options);
  }
}

/** The client bounds only the time until a command is sent. */
async function beforeDeadline<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  const answered = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  void systemClock.sleep(deadlineMs, answered.signal).then(() => {
    // an answer that arrived while this process was busy is read first
    if (!answered.signal.aborted) setImmediate(() => reject(new Error(`no answer within ${deadlineMs} ms`)));
  });
  work.then(resolve, reject);
  try {
    return await promise;
  } finally {
    answered.abort();
  }
}

async function firstConnection(client: RedisClient): Promise<void> {
  const failed = new Promise<void>((resolve) => {
    client.once('error', () => {
      resolve();
    });
  });
  await Promise.race([client.connect().catch(() => undefined), failed]);
}

/** The certificates that an address names in its query: `?ca=…&certificate=…&key=…`. Throws if a file is unusable. */
function addressTls(address: string): SecureContextOptions {
  const { searchParams } = new URL(address);
  const named = TLS_FILES.flatMap((name) => {
    const file = searchParams.get(name);
    return file === null ? [] : [[name, file] as const];
  });
  return named.length === 0 ? {} : rereadTls(Object.fromEntries(named))();
}
