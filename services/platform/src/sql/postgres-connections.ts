import pg from 'pg';
import { postgresFault } from './postgres-faults.ts';
import { findReader } from './postgres-message.ts';
import type { PipelineConnection } from './postgres-pipeline.ts';
import type { PostgresSettings } from './postgres-settings.ts';
import { newNamedStatements } from './postgres-statements.ts';
import { postgresAddress } from './postgres-tls.ts';
import type { SqlPool } from './sql.ts';
import { StoreUnavailable } from './sql.ts';
import { systemClock } from '../clock.ts';

/** The server ends a slow statement itself. After this further time the server counts as gone. */
const SILENCE_MS = 2000;
/**
 * A connection that rests is kept for this time. A new one costs a process of the server, its caches, and the plans of
 * all statements, and the call that needs it waits for that.
 */
const REST_MS = 300_000;
/** A pooler refuses the limits at the start of a connection, which it would share among its clients. */
const REFUSED_LIMITS = /^unsupported startup parameter/;

/** Names of the server and their values in milliseconds. */
type Limits = Readonly<Record<(typeof LIMITS)[number], number>>;
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'] as const;

/** A connection that belongs to one caller until its release. */
export interface HeldConnection extends PipelineConnection {
  /** The statements that open a transaction under the limits. */
  readonly begin: readonly string[];
  /** True if a statement on its own is under the limits. Otherwise it needs a transaction. */
  readonly isLimited: boolean;
  /** The connection ends at its release. */
  readonly spoil: (error: unknown) => void;
  readonly release: () => void;
}

export interface Connections {
  /** Waits for a connection. The queue and the time of waiting are bounded. */
  acquire(): Promise<HeldConnection>;
  state(): SqlPool;
  close(): Promise<void>;
}

/**
 * Connections under the time limits of the settings. A server gets the limits at the start of a connection. A pooler in
 * transaction mode cannot pass them on, and SET would change the connections of others. So a connection without the
 * limits, from its start or from its role, gets them with SET LOCAL in each transaction.
 */
export function openConnections(url: string, settings: PostgresSettings): Connections {
  const limits: Limits = {
    statement_timeout: settings.statementMs,
    lock_timeout: settings.lockMs,
    idle_in_transaction_session_timeout: settings.idleInTransactionMs,
  };
  const { url: connectionString, tls } = postgresAddress(url);
  const seen = new WeakMap<pg.ClientBase, ConnectionSettings>();
  let isPooled = false;
  const onPooler = (): void => {
    isPooled = true;
  };
  let atStart: Partial<Limits> = limits;
  /** Sets the limits at the start of the connection while the server applies them, and uses the newest certificates. */
  class Client extends pg.Client {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, ...atStart, ...(tls === undefined ? {} : { ssl: tls() }) });
    }
  }
  const pool = new pg.Pool({
    connectionString,
    max: settings.connections,
    connectionTimeoutMillis: settings.connectMs,
    idleTimeoutMillis: REST_MS,
    query_timeout: settings.statementMs + SILENCE_MS,
    keepAlive: true,
    types: { getTypeParser: findReader as pg.CustomTypesConfig['getTypeParser'] },
    Client,
  });
  // the pool replaces a broken connection at the next use, but without a listener its error would end the process
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const local = ['BEGIN', ...LIMITS.map((name) => `SET LOCAL ${name} = ${limits[name]}`)];

  const waiting = newWaitingCalls();
  const connect = (): Promise<pg.PoolClient> =>
    pool.connect().catch((error: unknown) => {
      if (!(error instanceof Error && REFUSED_LIMITS.test(error.message))) throw toConnectFault(error);
      atStart = {};
      return pool.connect().catch(throwConnectFault);
    });

  return {
    acquire: async () => {
      if (pool.waitingCount >= settings.queue)
        throw new StoreUnavailable(`${settings.queue} calls wait for a connection`);
      const client = await waiting.during(connect);
      const known =
        seen.get(client) ?? (await examineConnection(client, limits, { timeoutMs: settings.connectMs, onPooler }));
      seen.set(client, known);
      const { isLimited } = known;
      const statements = isPooled ? undefined : known.statements;
      let broken: Error | undefined;
      return {
        client,
        statements,
        isLimited,
        begin: isLimited ? ['BEGIN'] : local,
        spoil: (error) => {
          broken ??= error instanceof Error ? error : new Error(String(error));
        },
        release: () => client.release(broken),
      };
    },
    state: () => ({ ...readPoolState(pool), waitedMs: waiting.firstWaited() }),
    close: () => pool.end(),
  };
}

function readPoolState({ totalCount, idleCount, waitingCount }: pg.Pool): Omit<SqlPool, 'waitedMs'> {
  return { inUse: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** The settings of a new connection's server or pooler. */
type ConnectionSettings = Pick<HeldConnection, 'isLimited' | 'statements'>;

interface ExamineOptions {
  readonly timeoutMs: number;
  /** A pooler was taken for a server. */
  readonly onPooler: () => void;
}

async function examineConnection(
  client: pg.PoolClient,
  limits: Limits,
  options: ExamineOptions,
): Promise<ConnectionSettings> {
  try {
    return await readSettings(client, limits, options);
  } catch (error) {
    client.release(true);
    throw toConnectFault(error);
  }
}

/**
 * Reads whether a connection is limited: its server applies limits that are at least as strict. A pooler gives its
 * clients keys of its own for a cancel, so the process in the key is not the one that answers. A server keeps
 * statements ready, but a server behind a pooler would keep them for others.
 */
async function readSettings(
  client: pg.PoolClient,
  limits: Limits,
  { timeoutMs, onPooler }: ExamineOptions,
): Promise<ConnectionSettings> {
  const { rows } = await client.query<{ name: keyof Limits; setting: string; answering: number }>({
    text: `SELECT name, setting, pg_backend_pid() AS answering FROM pg_settings
      WHERE name IN (${LIMITS.map((name) => `'${name}'`).join(', ')})`,
    ...{ query_timeout: timeoutMs },
  });
  const inForce = new Map(rows.map(({ name, setting }) => [name, Number(setting)]));
  const isLimited = LIMITS.every((name) => {
    const ms = inForce.get(name) ?? 0;
    return ms > 0 && ms <= limits[name];
  });
  const isServer = rows[0]?.answering === (client as WithProcess).processID;
  return { isLimited, statements: isServer ? newNamedStatements(onPooler) : undefined };
}

/** The process that the key for a cancel names. The types of the driver leave it out. */
type WithProcess = pg.PoolClient & { readonly processID?: number | null };

/** Without a connection no statement was sent, so every failure to connect can be repeated. */
function toConnectFault(error: unknown): unknown {
  const fault = postgresFault(error, false);
  return fault instanceof StoreUnavailable ? fault : new StoreUnavailable(error);
}

function throwConnectFault(error: unknown): never {
  throw toConnectFault(error);
}

/** The calls that wait for a connection. */
interface WaitingCalls {
  /** Counts a call as waiting until the work has ended. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Returns the milliseconds that the first caller has waited, or 0 if no caller waits. */
  firstWaited(): number;
}

function newWaitingCalls(): WaitingCalls {
  const calls = new Set<{ readonly since: number }>();
  return {
    during: async (work) => {
      const call = { since: systemClock.now() };
      calls.add(call);
      try {
        return await work();
      } finally {
        calls.delete(call);
      }
    },
    firstWaited: () => {
      // a set keeps the order of its additions
      const [first] = calls;
      return first === undefined ? 0 : Math.max(0, systemClock.now() - first.since);
    },
  };
}
