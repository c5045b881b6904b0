import { constants } from 'node:os';
import { newLifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { collectStart } from './runtime/collect-start.ts';
import { applyLive } from './config/live-settings.ts';
import type { ServiceName } from './config/program-config.ts';
import { readRunnableConfig } from './config/read-config.ts';
import type { ReadConfig } from './config/read-config.ts';
import { processChecks } from './diagnosis/process-checks.ts';
import { processDiagnosis } from './diagnosis/process-diagnosis.ts';
import { openBus, openFoundation } from './open-foundation.ts';
import type { BaseFoundation } from './open-foundation.ts';
import { lockStores } from './data-folder/lock-stores.ts';
import { openHealthPorts } from './ports/health-ports.ts';
import { newCallerIdentifiers } from './ports/open-ports.ts';
import { announcePlaintext, watchProgramTls } from './ports/program-tls.ts';
import { openProcessLog } from './program-log.ts';
import type { StartParts, StartResult } from './start-parts.ts';
import { watchConfig } from './watch-config.ts';

/** Shells report the end by a signal as this number plus the number of the signal. */
const SIGNAL_CODE = 128;
const USAGE = 'usage: npm start, or npm run start:gateway, start:tasks, start:billing, start:media';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs all services as one program, or only the named service, until a signal stops it. Returns the exit code. `exit`
 * ends the process immediately.
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
  const said = openProcessLog(service, environment['REELGATE_LOG'], () => exit(1));
  const refuse = (error: unknown): number => {
    said.fail('reelgate cannot start', error);
    return 1;
  };
  let read: ReadConfig;
  let base: BaseFoundation;
  let unlock: () => void;
  try {
    read = await readRunnableConfig(environment, service);
    base = await openFoundation({ config: read.config, environment, service }, said.log);
    unlock = lockStores(read.config, service, said.log);
  } catch (error) {
    return refuse(error);
  }
  const { config, warnings } = read;
  const live = applyLive(said.log, config.live);
  logWarnings(base, warnings);
  const lifecycle = newProgramLifecycle(base);
  const stopped = waitForStop(base, environment, exit);
  let isHurried = true;
  const hangUp = hangUps();
  try {
    const tls = watchProgramTls(config, service, base, lifecycle);
    const ports = await openHealthPorts({ config, foundation: base, lifecycle, tls }, service);
    const diagnosis = processDiagnosis(base, live.profilesAllowed);
    const starting = start({ config, base, lifecycle, tls, ports, diagnosis }, service);
    const started = await Promise.race([starting, stopped.then(() => undefined)]);
    if (started === undefined) return endEarly(exit);
    if (started.greeting.length > 0) console.log(started.greeting.join('\n'));
    announcePlaintext(config, service, base.log);
    void collectStart({ ...base, stopping: lifecycle.stopping });
    const readAgain = (): Promise<ReadConfig> => readRunnableConfig(environment, service);
    const watch = watchConfig({ started: read, service, read: readAgain, services: [...started.services, live] }, base);
    diagnosis.follow(() => watch.state());
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
    unlock();
    said.close();
  }
}

/** Starts one service in this process, which calls the others over gRPC. The code of the others is not loaded. */
const START_ONE: Readonly<Record<ServiceName, (starting: StartParts) => Promise<StartResult>>> = {
  billing: async (starting) => (await import('./alone/start-billing.ts')).startBillingAlone(starting),
  media: async (starting) => (await import('./alone/start-media.ts')).startMediaAlone(starting),
  tasks: async (starting) => (await import('./alone/start-tasks.ts')).startTasksAlone(starting),
  gateway: async (starting) => (await import('./alone/start-gateway.ts')).startGatewayAlone(starting),
};

/** Ends a start that is stopped, without waiting for running work. */
function endEarly(exit: (code: number) => void): 0 {
  exit(0);
  return 0;
}

/** Spans are sent last, after the work that they record. */
function newProgramLifecycle({ log, tracing }: BaseFoundation): Lifecycle {
  const lifecycle = newLifecycle(log);
  lifecycle.add('tracing', () => tracing.stop());
  return lifecycle;
}

function waitForStop(
  { clock }: BaseFoundation,
  environment: Environment,
  exit: (code: number) => void,
): Promise<StopSignal> {
  return untilStopped({
    now: () => clock.now(),
    isUnderNpm: environment['npm_lifecycle_event']?.startsWith('start') === true,
    end: (signal) => exit(SIGNAL_CODE + constants.signals[signal]),
  });
}

type OpenedParts = Omit<StartParts, 'foundation' | 'identify'> & { readonly base: BaseFoundation };

/** Starts the services when the bus is there. */
async function start({ base, ...opened }: OpenedParts, service: ServiceName | undefined): Promise<StartResult> {
  const foundation = { ...base, bus: await openBus(opened.config, base) };
  opened.lifecycle.add('bus', () => foundation.bus.close());
  const starting: StartParts = { ...opened, foundation, identify: newCallerIdentifiers(opened.config, foundation) };
  // One service of a process speaks for the whole of it.
  opened.diagnosis.checksOf(service ?? 'tasks').add(...processChecks({ ...opened, ...foundation }));
  if (service !== undefined) return START_ONE[service](starting);
  const { startAll } = await import('./start-all.ts');
  return startAll(starting);
}

function logWarnings({ log }: BaseFoundation, warnings: readonly string[]): void {
  for (const warning of warnings) log.warn({ warning }, 'a setting of the configuration has no effect');
}

/** Ignores a hang-up before the end of the start, because the start reads the configuration anyway. */
function hangUps(): { handle: () => void } {
  const hangUp = { handle: (): void => undefined };
  process.on('SIGHUP', () => hangUp.handle());
  return hangUp;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
type StopSignal = (typeof SIGNALS)[number];

/** A signal to a group of processes reaches this one twice: directly, and from npm. */
const SAME_REQUEST_MS = 1000;

interface StopOptions {
  /** Now, in milliseconds. */
  readonly now: () => number;
  /** True if npm started this process and passes its signals on. */
  readonly isUnderNpm: boolean;
  /** Ends the process immediately. */
  readonly end: (signal: StopSignal) => void;
}

/** Resolves with the first signal that asks for a stop. The second one ends the process immediately. */
function untilStopped({ now, isUnderNpm, end }: StopOptions): Promise<StopSignal> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const take = (signal: StopSignal): void => {
      if (firstAt === undefined) {
        firstAt = now();
        resolve(signal);
      } else if (!isUnderNpm || now() - firstAt >= SAME_REQUEST_MS) end(signal);
    };
    for (const signal of SIGNALS) process.on(signal, take);
  });
}
