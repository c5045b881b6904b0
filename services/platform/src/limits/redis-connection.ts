import type { SecureContextOptions } from 'node:tls';
import { createClient, createCluster } from 'redis';
import type { Secret } from '../secret.ts';
import { StoreRefused } from '../sql/sql.ts';
import { rereadTls } from '../tls/tls-files.ts';
import { TLS_FILES } from '../tls/tls-material.ts';
import type { RedisScript } from './redis-script.ts';

const SECURE = 'rediss://';
const CONNECT_TIMEOUT_MS = 2000;
const RECONNECT_MAX_MS = 800;
/** A connection with a vanished peer is closed after this time. */
const SILENT_MS_MAX = 5000;
/** The maximum number of commands that wait for Redis. */
const COMMANDS_MAX = 1000;
const MODE = /^redis_mode:(\w+)/m;
const SENTINEL =
  'the server is a Redis Sentinel, which keeps no data and which this program does not follow; expected the address ' +
  'of the master, or of a proxy or a name that follows it';

export interface RedisCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** The connection to one server, or the connections to the nodes of a cluster. */
export interface RedisConnection {
  isReady(): boolean;
  evaluate(script: RedisScript, call: RedisCall): Promise<unknown>;
  /** Asks whether it works. */
  probe(): Promise<unknown>;
  /**
   * Asks the server for its kind, and returns the connection to use: to the server itself, or to the cluster that it is
   * a node of. Rejects if it is a Sentinel.
   */
  recognize(): Promise<RedisConnection>;
  close(): void;
}

type OnError = (error: unknown) => void;

/** Resolves after the first try to connect. If it fails, the client keeps connecting in the background. */
export async function connectRedis(url: Secret, onError: OnError): Promise<RedisConnection> {
  const client = createClient({ url: url.reveal(), ...clientOptions(url) });
  client.on('error', onError);
  const failed = new Promise<void>((resolve) => {
    client.once('error', () => resolve());
  });
  await Promise.race([client.connect().catch(() => undefined), failed]);
  let isKnown = false;
  const connection: RedisConnection = {
    isReady: () => client.isReady,
    evaluate: (script, call) => evaluate(client, script, call),
    probe: () => client.ping(),
    recognize: async () => {
      if (isKnown) return connection;
      // a role can lack the right to ask
      const mode = MODE.exec(await client.info('server').catch(() => ''))?.[1];
      if (mode === 'sentinel') throw new StoreRefused(SENTINEL);
      if (mode === 'cluster') {
        const cluster = await connectCluster(url, onError);
        client.destroy();
        return cluster;
      }
      isKnown = true;
      return connection;
    },
    close: () => client.destroy(),
  };
  return connection;
}

/**
 * Connects to a cluster by the address of any node. The keys of a call share a hash tag, so that one node has them all.
 */
async function connectCluster(url: Secret, onError: OnError): Promise<RedisConnection> {
  const address = new URL(url.reveal());
  const [username, password] = [address.username, address.password].map(decodeURIComponent);
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const cluster = createCluster({
    rootNodes: [{ url: url.reveal() }],
    defaults: { ...clientOptions(url), ...credentials },
  });
  cluster.on('error', onError);
  cluster.on('node-error', onError);
  try {
    await cluster.connect();
  } catch (error) {
    cluster.destroy();
    throw error;
  }
  const connection: RedisConnection = {
    isReady: () => cluster.isOpen,
    evaluate: (script, call) => evaluate(cluster, script, call),
    probe: () => cluster.ping(),
    recognize: async () => connection,
    close: () => cluster.destroy(),
  };
  return connection;
}

/** The certificates are read once, at the start. */
function clientOptions(url: Secret) {
  const address = url.reveal();
  return {
    disableOfflineQueue: true,
    commandsQueueMaxLength: COMMANDS_MAX,
    socket: {
      ...(address.startsWith(SECURE) ? { tls: true as const, ...addressTls(address) } : {}),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENT_MS_MAX,
      reconnectStrategy: (retries: number) => Math.min(RECONNECT_MAX_MS, 100 * 2 ** Math.min(retries, 10)),
    },
  };
}

interface ScriptOptions {
  keys: string[];
  arguments: string[];
}

interface ScriptClient {
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>;
  eval(text: string, options: ScriptOptions): Promise<unknown>;
}

async function evaluate(client: ScriptClient, { text, sha }: RedisScript, { keys, args }: RedisCall): Promise<unknown> {
  const options = { keys: [...keys], arguments: args.map(String) };
  try {
    return await client.evalSha(sha, options);
  } catch (error) {
    if (!String(error).includes('NOSCRIPT')) throw error;
    return client.eval(text, options);
  }
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
