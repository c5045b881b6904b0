import { ConfigError } from '@reelgate/platform/config-file';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { openLifecycle } from '@reelgate/platform/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle';
import type { LogLevel } from '@reelgate/platform/log';
import { readProgramConfig } from './config.ts';
import type { ProgramConfig, ServiceName } from './config.ts';
import { openFoundation } from './foundation.ts';
import { knownCallers } from './open-ports.ts';
import type { IdentifyCaller } from '@reelgate/platform/rpc/callers';
import { startAll } from './start-all.ts';
import { START_ONE } from './start-one.ts';

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error', 'silent'];
const USAGE = 'usage: npm start, or npm run start:gateway, start:tasks, start:billing, start:media';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a program is made of while it starts. */
export interface Starting {
  readonly config: ProgramConfig;
  readonly foundation: Foundation;
  readonly lifecycle: Lifecycle;
  readonly identify: IdentifyCaller;
}

/** What runs once everything has started. */
export interface Started {
  /** In the order in which a new configuration is given to them. */
  readonly services: readonly RunningService[];
  /** Lines for the person who started it. */
  readonly greeting: readonly string[];
}

/** Runs all services as one program, or the one that is named, until it is told to stop; gives the exit code. */
export async function run([name]: readonly string[], environment: Environment): Promise<number> {
  if (name !== undefined && !Object.hasOwn(START_ONE, name)) {
    console.error(USAGE);
    return 2;
  }
  let config: ProgramConfig;
  try {
    config = readProgramConfig(environment);
    if (name !== undefined && config.bus === undefined) throw config.file.fault(['bus'], 'services that run apart need one: expected nats://…, for example from NATS_URL');
  } catch (error) {
    return refuse(error);
  }
  const foundation = await openFoundation(config, name ?? 'reelgate', levelOf(environment, name));
  const lifecycle = openLifecycle(foundation.log);
  lifecycle.add('bus', () => foundation.bus.close());
  const stopped = untilStopped();
  try {
    const starting: Starting = { config, foundation, lifecycle, identify: knownCallers(config, foundation.signingKey) };
    const started = name === undefined ? await startAll(starting) : await START_ONE[name as ServiceName](starting);
    if (started.greeting.length > 0) console.log(started.greeting.join('\n'));
    onHangUp(() => reload(environment, foundation, started.services));
    await stopped;
    return 0;
  } catch (error) {
    return refuse(error);
  } finally {
    await lifecycle.stop();
  }
}

function refuse(error: unknown): number {
  if (error instanceof ConfigError) console.error(`reelgate cannot start:\n${error.message}`);
  else console.error('reelgate cannot start:', error instanceof Error ? (error.stack ?? error.message) : error);
  return 1;
}

/** A new file is taken whole or not at all. */
async function reload(environment: Environment, { log }: Foundation, services: readonly RunningService[]): Promise<void> {
  try {
    const { value } = readProgramConfig(environment);
    for (const service of services) await service.reload(value);
    log.warn({}, 'the configuration was read again');
  } catch (error) {
    log.error({ reason: error instanceof Error ? error.message : String(error) }, 'the new configuration was refused; the old one stays');
  }
}

function onHangUp(read: () => Promise<void>): void {
  let last = Promise.resolve();
  process.on('SIGHUP', () => {
    last = last.then(read);
  });
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => { resolve(); });
  });
}

function levelOf(environment: Environment, name: string | undefined): LogLevel {
  const asked = environment['REELGATE_LOG'];
  if (asked !== undefined && LEVELS.includes(asked)) return asked as LogLevel;
  return name === undefined ? 'warn' : 'info';
}
