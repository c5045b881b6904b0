import { systemClock } from '../clock.ts';
import { isPlain } from '../describe-error.ts';
import { startWorker } from '../lifecycle/worker.ts';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';
import { connectRedis } from './redis-connection.ts';
import type { RedisCall, RedisConnection } from './redis-connection.ts';
import type { RedisScript } from './redis-script.ts';

const DEADLINE_MS = 100;
/** To learn the nodes of a cluster takes a connection to each. */
const RECOGNIZE_MS = 5000;
/** While Redis is away, it is asked this often whether it is back. */
const PROBE_MS = 500;

/** The connection to Redis, or to a cluster of it. While Redis is away no caller waits for it. */
export interface RedisLink {
  /** Rejects at the deadline, or immediately while Redis is away. */
  run(script: RedisScript, call: RedisCall): Promise<unknown>;
  isAway(): boolean;
  /** Returns why Redis is away if an operator can repair that, and an empty text if the cause is not known. */
  fault(): string;
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
 * Resolves after the first try to connect. If it fails, the link keeps connecting in the background. Its deadlines are
 * wall time, even under a test clock.
 */
export async function openRedisLink({ url, log, deadlineMs = DEADLINE_MS }: RedisLinkOptions): Promise<RedisLink> {
  const listeners: ((reason: unknown) => void)[] = [];
  let isAway = false;
  let fault = '';
  const change = (away: boolean, reason?: unknown): void => {
    if (isAway === away) return;
    isAway = away;
    if (!away) fault = '';
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
  let connection = await connectRedis(url, (error) => change(true, error));
  try {
    if (connection.isReady()) connection = await recognize(connection);
  } catch (error) {
    // a fault that waiting does not cure ends the start
    if (isPlain(error)) {
      connection.close();
      throw error;
    }
    change(true, error);
  }
  const probes = startWorker({
    name: 'redis',
    clock: systemClock,
    log,
    idleMs: PROBE_MS,
    pass: async () => {
      if (!isAway || !connection.isReady()) return 0;
      try {
        connection = await recognize(connection);
        await within(connection.probe());
        change(false);
      } catch (error) {
        fault = isPlain(error) ? error.message : fault;
      }
      return 0;
    },
  });
  return {
    isAway: () => isAway,
    fault: () => fault,
    onChange: (listener) => void listeners.push(listener),
    run: async (script, call) => {
      if (isAway) throw new Error('redis is away');
      return within(connection.evaluate(script, call));
    },
    close: async () => {
      await probes.stop();
      connection.close();
    },
  };
}

/** A node of a cluster that cannot be reached leaves the connection as it is, to be tried again. */
async function recognize(connection: RedisConnection): Promise<RedisConnection> {
  return beforeDeadline(connection.recognize(), RECOGNIZE_MS);
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
