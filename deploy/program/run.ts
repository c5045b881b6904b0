import { constants } from 'node:os';
import { ConfigError } from '@reelgate/platform/config/config-file';
import type { Foundation } from '@reelgate/platform/foundation';
import { openLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { LogLevel } from '@reelgate/platform/log';
import type { ServiceName } from './config/program-config.ts';
import { readConfig } from './config/read-config.ts';
import type { ReadConfig } from './config/read-config.ts';
import { openFoundation } from './foundation.ts';
import { knownCallers } from './open-ports.ts';
import { startAll } from './start-all.ts';
import { START_ONE } from './start-one.ts';
import type { Starting } from './starting.ts';
import { untilStopped } from './stop-signals.ts';
import { announcePlaintext } from './plaintext.ts';
import { openTls } from './tls.ts';
import { watchConfig } from './watch-config.ts';

const LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error', 'silent'];
/** Shells report the end by a signal as this number and that of the signal. */
const SIGNAL_CODE = 128;
const USAGE = 'usage: npm start, or npm run start:gateway, start:tasks, start:billing, start:media';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs all services as one program, or only the named service, until a signal stops it. Returns the exit code. `exit`
 * ends the process at once.
 */
export async function run(
  [name]: readonly string[],
  environment: Environment,
  exit: (code: number) => void,
): Promise<number> {
  if (name !== undefined && !Object.hasOwn(START_ONE, name)) {
    console.error(USAGE);
    return 2;
  }
  const service = name as ServiceName | undefined;
  let read: ReadConfig;
  try {
    read = readConfig(environment, service);
  } catch (error) {
    return refuse(error);
  }
  const { config, warnings } = read;
  const foundation = await openFoundation(config, name ?? 'reelgate', levelOf(environment, name));
  warnOf(foundation, warnings);
  const lifecycle = openLifecycle(foundation.log);
  lifecycle.add('bus', () => foundation.bus.close());
  const stopped = untilStopped({
    now: () => foundation.clock.now(),
    isUnderNpm: environment['npm_lifecycle_event']?.startsWith('start') === true,
    end: (signal) => {
      exit(SIGNAL_CODE + constants.signals[signal]);
    },
  });
  let isHurried = true;
  const hangUp = hangUps();
  try {
    const tls = openTls(config, service, foundation, lifecycle);
    const identify = knownCallers(config, foundation);
    const starting: Starting = { config, foundation, lifecycle, identify, tls };
    const started = service === undefined ? await startAll(starting) : await START_ONE[service](starting);
    if (started.greeting.length > 0) console.log(started.greeting.join('\n'));
    announcePlaintext(config, service, foundation.log);
    const watch = watchConfig(
      { started: read, service, read: () => readConfig(environment, service), services: started.services },
      foundation,
    );
    lifecycle.add('configuration', () => watch.stop());
    hangUp.handle = () => {
      tls.reread();
      watch.reload();
    };
    isHurried = (await stopped) === 'SIGINT';
    return 0;
  } catch (error) {
    return refuse(error);
  } finally {
    await lifecycle.stop({ atOnce: isHurried });
  }
}

function refuse(error: unknown): number {
  if (error instanceof ConfigError) console.error(`reelgate cannot start:\n${error.message}`);
  else console.error('reelgate cannot start:', error instanceof Error ? (error.stack ?? error.message) : error);
  return 1;
}

function warnOf({ log }: Foundation, warnings: readonly string[]): void {
  for (const warning of warnings) log.warn({ warning }, 'a setting of the configuration has no effect');
}

/** A start reads the configuration, so a hang-up before its end asks for nothing more. */
function hangUps(): { handle: () => void } {
  const hangUp = { handle: (): void => undefined };
  process.on('SIGHUP', () => {
    hangUp.handle();
  });
  return hangUp;
}

function levelOf(environment: Environment, name: string | undefined): LogLevel {
  const asked = environment['REELGATE_LOG'];
  if (asked !== undefined && LEVELS.includes(asked)) return asked as LogLevel;
  return name === undefined ? 'warn' : 'info';
}
