import { constants } from 'node:os';
import type { Foundation } from '@reelgate/platform/foundation';
import { openLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { ServiceName } from './config/program-config.ts';
import { readConfig } from './config/read-config.ts';
import type { ReadConfig } from './config/read-config.ts';
import { openBus, openFoundation } from './foundation.ts';
import { openHealthPorts } from './health-ports.ts';
import { knownCallers } from './open-ports.ts';
import { openProcessLog } from './program-log.ts';
import { startAll } from './start-all.ts';
import { START_ONE } from './start-one.ts';
import type { Started, Starting } from './starting.ts';
import { untilStopped } from './stop-signals.ts';
import type { StopSignal } from './stop-signals.ts';
import { announcePlaintext } from './plaintext.ts';
import { openTls } from './tls.ts';
import { watchConfig } from './watch-config.ts';

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
  const said = openProcessLog(service, environment['REELGATE_LOG'], () => {
    exit(1);
  });
  const refuse = (error: unknown): number => {
    said.fail('reelgate cannot start', error);
    return 1;
  };
  let read: ReadConfig;
  let base: Omit<Foundation, 'bus'>;
  try {
    read = readConfig(environment, service);
    base = openFoundation(read.config, said.log);
  } catch (error) {
    return refuse(error);
  }
  const { config, warnings } = read;
  warnOf(base, warnings);
  const lifecycle = openLifecycle(base.log);
  const stopped = stopSignal(base, environment, exit);
  let isHurried = true;
  const hangUp = hangUps();
  try {
    const tls = openTls(config, service, base, lifecycle);
    const ports = await openHealthPorts({ config, foundation: base, lifecycle, tls }, service);
    const starting = start({ config, base, lifecycle, tls, ports }, service);
    const started = await Promise.race([starting, stopped.then(() => undefined)]);
    if (started === undefined) {
      exit(0);
      return 0;
    }
    if (started.greeting.length > 0) console.log(started.greeting.join('\n'));
    announcePlaintext(config, service, base.log);
    const readAgain = (): ReadConfig => readConfig(environment, service);
    const watch = watchConfig({ started: read, service, read: readAgain, services: started.services }, base);
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
    said.close();
  }
}

function stopSignal(
  { clock }: Pick<Foundation, 'clock'>,
  environment: Environment,
  exit: (code: number) => void,
): Promise<StopSignal> {
  return untilStopped({
    now: () => clock.now(),
    isUnderNpm: environment['npm_lifecycle_event']?.startsWith('start') === true,
    end: (signal) => {
      exit(SIGNAL_CODE + constants.signals[signal]);
    },
  });
}

type Opened = Omit<Starting, 'foundation' | 'identify'> & { readonly base: Omit<Foundation, 'bus'> };

/** Starts the services when the bus is there. */
async function start({ base, ...opened }: Opened, service: ServiceName | undefined): Promise<Started> {
  const foundation = { ...base, bus: await openBus(opened.config, base) };
  opened.lifecycle.add('bus', () => foundation.bus.close());
  const starting: Starting = { ...opened, foundation, identify: knownCallers(opened.config, foundation) };
  return service === undefined ? startAll(starting) : START_ONE[service](starting);
}

function warnOf({ log }: Pick<Foundation, 'log'>, warnings: readonly string[]): void {
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
