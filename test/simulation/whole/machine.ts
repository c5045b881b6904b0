import { startBilling } from '@reelgate/billing/app';
import type { Clock } from '@reelgate/platform/clock';
import type { Bus } from '@reelgate/platform/bus/bus';
import { openLocalBus } from '@reelgate/platform/bus/local-bus';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import { newIds } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { OpenLogSync } from '@reelgate/platform/sql/sqlite-log-sync';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { MediaService } from '@reelgate/proto/media/v1/media_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startTasks } from '@reelgate/tasks/app';
import type { OpenPool } from '@reelgate/tasks/app';
import { toCaller } from '../../../deploy/program/identities.ts';
import type { Identity } from '../../../deploy/program/identities.ts';
import type { Draws } from './draws.ts';
import { showFields } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import type { PlantedBug } from './planted-bugs.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import { PUBLIC_URL, SIGNING_KEY, simulatedConfigs } from './simulated-config.ts';
import type { CrashKind, SimulatedDisk } from './simulated-disk.ts';
import { simulatedBytes } from './simulated-media.ts';

const CALL_MS_MAX = 8;
const RESTART_MS = { least: 200, most: 4000 };
const CRASHES_AT_START = 0.1;
const START_MS_MAX = 40;

/** The services of one process that is up, as their callers see them. */
export interface Services {
  readonly tasks: Client<typeof TaskService>;
  readonly billing: Client<typeof BillingService>;
  readonly accounts: Client<typeof AccountService>;
}

/** The call did not reach the process, or its answer was lost. */
export class LostAnswer extends Error {
  override readonly name = 'LostAnswer';
}

/** The machine on which the program runs, dies and starts again. */
export interface Machine {
  /** Starts the first process. */
  start(): void;
  /** Calls the running process from outside. Rejects with LostAnswer if it is down, or dies before it answers. */
  call<T>(run: (services: Services, signal: AbortSignal) => Promise<T>, leaveAfterMs?: number): Promise<T>;
  crash(kind: CrashKind): void;
  readonly isUp: () => boolean;
  readonly crashes: () => number;
}

export interface MachineOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly disk: SimulatedDisk;
  readonly events: EventLog;
  readonly openPool: OpenPool;
  readonly media: Client<typeof MediaService>;
  readonly bug: PlantedBug | undefined;
  /** Called for each line of the log of the product. */
  readonly onLine: (message: string) => void;
  /** Called when a process has died or is up. */
  readonly onChange: () => void;
}

interface PendingCall {
  readonly fail: () => void;
}

export function openMachine(options: MachineOptions): Machine {
  const { scheduler, draws, faults, disk, events, onChange } = options;
  const pending = new Set<PendingCall>();
  let [boots, crashes, calls] = [0, 0, 0];
  let running: { readonly process: SimulatedProcess; readonly services: Services | undefined } | undefined;
  const note = (text: string): void => {
    events.write(scheduler.now(), 'machine', text);
  };

  const start = (): void => {
    boots += 1;
    const process: SimulatedProcess = { name: `process-${boots}`, isAlive: true };
    running = { process, services: undefined };
    note(`${process.name} starts`);
    scheduler.after(0, process, () => {
      startServices(options, process).then(
        (services) => {
          running = { process, services };
          note(`${process.name} is up`);
          onChange();
        },
        (error: unknown) => {
          note(`${process.name} cannot start: ${String(error)}`);
          scheduler.after(1, scheduler.world, () => {
            if (process.isAlive) crash('kill');
          });
        },
      );
    });
    if (faults.happens('crash at start', `crash of boot ${boots}`, CRASHES_AT_START))
      scheduler.after(draws.whole(`crash of boot ${boots} after`, 0, START_MS_MAX), scheduler.world, () => {
        if (process.isAlive) crash('kill');
      });
  };
  const crash = (kind: CrashKind): void => {
    if (running === undefined) return;
    crashes += 1;
    running.process.isAlive = false;
    note(`${running.process.name} dies: ${kind}`);
    running = undefined;
    disk.crash(kind);
    for (const { fail } of pending) fail();
    pending.clear();
    onChange();
    scheduler.after(draws.whole(`crash ${crashes} restart`, RESTART_MS.least, RESTART_MS.most), scheduler.world, start);
  };
  const call: Machine['call'] = (run, leaveAfterMs) =>
    new Promise((resolve, reject) => {
      calls += 1;
      const name = `call ${calls}`;
      const inWorld = (end: () => void): void => {
        scheduler.after(draws.whole(`${name} back`, 1, CALL_MS_MAX), scheduler.world, end);
      };
      const lost: PendingCall = {
        fail: () => {
          inWorld(() => {
            reject(new LostAnswer('the process died before it answered'));
          });
        },
      };
      scheduler.after(draws.whole(`${name} out`, 1, CALL_MS_MAX), scheduler.world, () => {
        if (running?.services === undefined) {
          lost.fail();
          return;
        }
        const { process, services } = running;
        pending.add(lost);
        scheduler.after(0, process, () => {
          const leaving = new AbortController();
          if (leaveAfterMs !== undefined) scheduler.after(leaveAfterMs, process, () => leaving.abort());
          run(services, leaving.signal)
            .finally(() => pending.delete(lost))
            .then(
              (answer) => {
                inWorld(() => {
                  resolve(answer);
                });
              },
              (error: unknown) => {
                inWorld(() => {
                  reject(error);
                });
              },
            );
        });
      });
    });
  return { start, call, crash, isUp: () => running?.services !== undefined, crashes: () => crashes };
}

/** Starts billing and tasks as the single program composes them: a bus in the process, and direct calls. */
async function startServices(options: MachineOptions, process: SimulatedProcess): Promise<Services> {
  const { scheduler, draws, disk, media, bug } = options;
  const log = openProcessLog(options, process);
  const { clock } = scheduler;
  const random = draws.bytes(`ids of ${process.name}`);
  const signingKey = new Secret(SIGNING_KEY);
  const bus: Bus = openLocalBus(clock, log);
  const foundation: Foundation = {
    ...{ clock, random, newId: newIds(clock, random), log, signingKey, acceptedKeys: acceptOnly(signingKey) },
    metrics: openMetrics(false, clock),
    bus: bug?.changeBus?.(bus) ?? bus,
    tracing: NO_TRACING,
    publicUrl: PUBLIC_URL,
    dataDir: disk.folder(),
  };
  const openLog: OpenLogSync = bug?.changeLogSync?.(disk.openLog, scheduler) ?? disk.openLog;
  const configs = simulatedConfigs();
  const billing = await startBilling({ ...configs.billing, store: { ...configs.billing.store, openLog } }, foundation);
  const tasks = await startTasks({ ...configs.tasks, store: { ...configs.tasks.store, openLog } }, foundation, {
    billing: connect(billing, BillingService, 'tasks', clock),
    calls: connect(billing, CallService, 'tasks', clock),
    media,
    bytes: simulatedBytes,
    openPool: bug?.changePool?.(options.openPool) ?? options.openPool,
    haveWorkersHere: true,
  });
  return {
    tasks: connect(tasks, TaskService, 'gateway', clock),
    billing: connect(billing, BillingService, 'gateway', clock),
    accounts: connect(billing, AccountService, 'operator', clock),
  };
}

type AnyService = typeof TaskService | typeof BillingService | typeof AccountService | typeof CallService;

function connect<S extends AnyService>(
  { bindings }: RunningService,
  service: S,
  caller: Identity,
  clock: Clock,
): Client<S> {
  const binding = bindings.find((one) => one.service === service);
  if (binding === undefined) throw new Error(`no binding serves ${service.typeName}`);
  return directClient(service, binding, toCaller(caller), clock);
}

/** Writes the lines of the product into the log of events. The path of the disk differs from run to run. */
function openProcessLog({ scheduler, disk, events, onLine }: MachineOptions, { name }: SimulatedProcess): Log {
  const at =
    (level: string, more: object) =>
    (fields: object, message: string): void => {
      const said = showFields({ ...more, ...fields }).replaceAll(disk.folder(), 'DATA');
      events.write(scheduler.now(), name, `${level} ${message} ${said}`);
      onLine(message);
    };
  const open = (more: object): Log => ({
    debug: () => undefined,
    info: at('info', more),
    warn: at('warn', more),
    error: at('error', more),
    access: () => undefined,
    child: (fields) => open({ ...more, ...fields }),
  });
  return open({});
}
