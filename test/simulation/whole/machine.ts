import path from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import type { OpenRelayPool } from '@reelgate/gateway/clients/gateway-clients';
import { currentRequestId } from '@reelgate/platform/request-context';
import type { Foundation, RunningService } from '@reelgate/platform/foundation';
import type { Log } from '@reelgate/platform/log';
import type { Caller, Client } from '@reelgate/platform/rpc/service';
import type { ServiceSchema } from '@reelgate/platform/sql/store-settings';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { OpenPool } from '@reelgate/tasks/app';
import type { Connect } from '../../../deploy/program/connect-gateway.ts';
import type { Identity } from '../../../deploy/program/keys/identities.ts';
import { newNameCounter } from './draws.ts';
import type { Draws } from './draws.ts';
import { showFields } from './event-log.ts';
import type { EventLog } from './event-log.ts';
import type { Faults } from './faults.ts';
import { newProcess } from './scheduler.ts';
import type { Program } from './program.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import { copyStores, readCopy } from './store-files.ts';
import { CALLING_TEAM, PUBLIC_URL, SIGNING_KEY } from './simulated-config.ts';
import type { SimulatedConfigs } from './simulated-config.ts';
import type { SimulatedBackends } from './simulated-backends.ts';
import type { CrashKind, SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedBus } from './simulated-bus.ts';
import type { SimulatedServer } from './simulated-server.ts';
import { LostAnswer, openSimulatedPort } from './simulated-http.ts';
import type { HttpAnswer, HttpOrder, SendOptions, SimulatedPort } from './simulated-http.ts';

const BACKUP_FOLDER = 'backup';
/** What a stopped program has sent arrives before its stores are replaced. */
const STOPPED_MS = 500;
const CALL_MS_MAX = 8;
const RESTART_MS = { least: 200, most: 4000 };
const CRASHES_AT_START = 0.1;
const START_MS_MAX = 40;
/** Between the starts of several processes. */
const APART_MS_MAX = 3000;
const SECOND_MS = 1000;
/** Each process sees a change of the configuration at its own time. */
const RELOAD_MS_MAX = 1500;

/** The servers that several processes share. */
export interface SharedServers {
  readonly replicas: number;
  readonly server: SimulatedServer;
  readonly bus: SimulatedBus;
}

/** The services of one process that is up, as operators see them. */
export interface Services {
  readonly channels: Client<typeof OperatorService>;
  readonly accounts: Client<typeof AccountService>;
  readonly queue: Client<typeof QueueService>;
  /** As a team calls it that may use one account. */
  readonly tasks: Client<typeof TaskService>;
}

interface StartedProgram {
  readonly services: Services;
  /** Reads the configuration after a number of changes. */
  readonly reload: (reloads: number) => Promise<void>;
}

/** The machine on which the program runs, dies and starts again. */
export interface Machine {
  /** Starts every process. */
  start(): void;
  /** Sends a request to the public port. Rejects with LostAnswer if no whole answer comes. */
  send(order: HttpOrder, options?: SendOptions): Promise<HttpAnswer>;
  /** Calls the running process for an act of an operator. Rejects with LostAnswer if it is down, or dies before it answers. */
  call<T>(run: (services: Services) => Promise<T>, act?: string): Promise<T>;
  /** Ends one of the processes. `cause` is the name of the crash. */
  crash(kind: CrashKind, cause: string): void;
  /** Changes the time of one of the processes, and writes the sentence about it that `change` returns. */
  disturb(cause: string, change: (process: SimulatedProcess) => string): void;
  /** Ends every process without warning, and starts all of them after this time. */
  switchOff(ms: number): void;
  /**
   * Copies the stores of all services as they are now. Returns a function that ends every process and restores the copies.
   * `cause` names the choices of the next starts. Undefined if the stores are those of a program that is down.
   */
  backUp(): ((cause: string) => Promise<void>) | undefined;
  /** Changes the configuration: the running process reads it, and so do those that start later. */
  reload(): void;
  /** True if every process is up. */
  readonly isUp: () => boolean;
  readonly crashes: () => number;
  /** The time for which it was switched off, in milliseconds. */
  readonly offMs: () => number;
}

export interface MachineOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly disk: SimulatedDisk;
  readonly events: EventLog;
  readonly openPool: OpenPool & OpenRelayPool;
  readonly backends: SimulatedBackends;
  readonly program: Program;
  /** The configuration after a number of changes. */
  readonly readConfigs: (reloads: number) => SimulatedConfigs;
  /** Undefined: one process has its stores on its own disk. */
  readonly shared: SharedServers | undefined;
  /** The configuration has changed for this number of times. */
  readonly onReload: (reloads: number) => void;
  /** Called for each line of the log of the product. */
  readonly onLine: (message: string, fields: object) => void;
  /** Called for each message of the log, also for those that are too fine to be written. */
  readonly onMessage: (message: string) => void;
}

interface PendingCall {
  readonly process: SimulatedProcess;
  readonly fail: () => void;
}

interface RunningProcess {
  readonly process: SimulatedProcess;
  readonly http: SimulatedPort;
  /** Undefined until the start has ended. */
  readonly started: StartedProgram | undefined;
}

/** A place for a process: one that has died is followed by the next. */
interface Slot {
  readonly place: string;
  running: RunningProcess | undefined;
}

export function openMachine(options: MachineOptions): Machine {
  const { scheduler, draws, faults, disk, events, backends, shared } = options;
  const pending = new Set<PendingCall>();
  let [boots, crashes, reloads, offMs, stops] = [0, 0, 0, 0, 0];
  const countName = newNameCounter();
  const slots: readonly Slot[] = Array.from({ length: shared?.replicas ?? 1 }, (_none, at) => ({
    ...{ place: `place-${at + 1}`, running: undefined },
  }));
  const note = (text: string): void => {
    events.write(scheduler.now(), 'machine', text);
  };
  const listUp = (): readonly Slot[] => slots.filter(({ running }) => running?.started !== undefined);

  const start = (slot: Slot): void => {
    boots += 1;
    const process = newProcess(`process-${boots}`, slot.place);
    const name = `${slot.place} start in second ${Math.floor((scheduler.now() - scheduler.begin) / SECOND_MS)}`;
    const http = openSimulatedPort({ scheduler, draws, process });
    slot.running = { process, http, started: undefined };
    note(`${process.name} starts`);
    scheduler.after(0, process, () => {
      const readAt = reloads;
      startProgram(options, { process, http, configs: options.readConfigs(readAt) }).then(
        (started) => {
          slot.running = { process, http, started };
          note(`${process.name} is up`);
          // the program polls its files from what it has read at its start
          if (reloads !== readAt) reloadOne(slot, slot.running);
        },
        (error: unknown) => {
          note(`${process.name} cannot start: ${String(error)}`);
          scheduler.after(1, scheduler.world, () => {
            if (process.isAlive) crashSlot(slot, 'kill', name);
          });
        },
      );
    });
    if (faults.happens('crash at start', name, CRASHES_AT_START))
      scheduler.after(draws.whole(`${name} crash`, 0, START_MS_MAX), scheduler.world, () => {
        if (process.isAlive) crashSlot(slot, 'kill', name);
      });
  };
  const crashSlot = (slot: Slot, kind: CrashKind, cause: string): void => {
    if (slot.running === undefined) return;
    crashes += 1;
    end(slot, kind, { cause, restartMs: draws.whole(`${cause} restart`, RESTART_MS.least, RESTART_MS.most) });
  };
  const end = (
    slot: Slot,
    kind: CrashKind,
    { cause, restartMs }: { readonly cause: string; readonly restartMs: number },
  ): void => {
    const { running } = slot;
    if (running === undefined) return;
    const { process, http } = running;
    process.isAlive = false;
    note(`${process.name} dies: ${kind} by ${cause}`);
    slot.running = undefined;
    if (shared === undefined) disk.crash(kind, cause);
    shared?.server.drop(process);
    backends.crash(process, kind);
    http.cut();
    for (const call of [...pending].filter(({ process: of }) => of === process)) {
      pending.delete(call);
      call.fail();
    }
    startLater(slot, restartMs);
  };
  /** A program that is stopped meanwhile is not started by it. */
  const startLater = (slot: Slot, restartMs: number): void => {
    const stopsBefore = stops;
    scheduler.after(restartMs, scheduler.world, () => {
      if (stops === stopsBefore) start(slot);
    });
  };
  const findVictim = (cause: string): Slot | undefined => {
    const alive = slots.filter(({ running }) => running !== undefined);
    return alive.length === 0 ? undefined : draws.pick(`${cause} of`, alive);
  };
  const reload = (): void => {
    reloads += 1;
    options.onReload(reloads);
    note(`the configuration changes for the ${reloads}. time`);
    for (const slot of listUp()) reloadOne(slot, slot.running!);
  };
  const reloadOne = ({ place }: Slot, { process, started }: RunningProcess): void => {
    scheduler.after(draws.whole(`reload ${reloads} of ${place}`, 0, RELOAD_MS_MAX), process, () => {
      started?.reload(reloads).catch((error: unknown) => {
        note(`the configuration is not read: ${String(error)}`);
      });
    });
  };
  const send: Machine['send'] = async (order, sending) => {
    const up = listUp();
    if (up.length === 0) throw new LostAnswer('no process is up');
    const name = countName(`http ${order.method} ${order.headers?.['x-request-id'] ?? order.path}`);
    return draws.pick(`${name} to`, up).running!.http.send(name, order, sending);
  };
  const call: Machine['call'] = (run, act = 'other') =>
    new Promise((resolve, reject) => {
      const name = countName(`call for ${act}`);
      const inWorld = (settle: () => void): void => {
        scheduler.after(draws.whole(`${name} back`, 1, CALL_MS_MAX), scheduler.world, settle);
      };
      const fail = (): void => {
        inWorld(() => {
          reject(new LostAnswer('the process died before it answered'));
        });
      };
      scheduler.after(draws.whole(`${name} out`, 1, CALL_MS_MAX), scheduler.world, () => {
        const up = listUp();
        if (up.length === 0) {
          fail();
          return;
        }
        const { process, started } = draws.pick(`${name} to`, up).running!;
        const lost: PendingCall = { process, fail };
        pending.add(lost);
        scheduler.after(0, process, () => {
          run(started!.services)
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
  const backUp: Machine['backUp'] = () => {
    if (shared === undefined && listUp().length === 0) return undefined;
    const [stores, copy] = [shared?.server.folder ?? disk.folder(), path.join(disk.root, BACKUP_FOLDER)];
    copyStores(stores, copy);
    const claimed = readCopy(copy, 'media', options.program.media.CLAIMED_CONTENT).map((row) => row['storage_key']);
    const restoreFiles = backends.backUp(new Set(claimed.map(String)), shared !== undefined);
    return async (cause) => {
      for (const slot of slots) crashSlot(slot, 'kill', `${cause} of ${slot.place}`);
      stops += 1;
      await scheduler.pause(STOPPED_MS);
      restoreFiles();
      if (shared === undefined) disk.restore(copy);
      else await shared.server.restore(copy);
      for (const slot of slots)
        startLater(slot, draws.whole(`${cause} to ${slot.place} restart`, RESTART_MS.least, RESTART_MS.most));
    };
  };
  return {
    start: () => {
      slots.forEach((slot, index) => {
        scheduler.after(index === 0 ? 0 : draws.whole(`start ${index}`, 0, APART_MS_MAX), scheduler.world, () => {
          start(slot);
        });
      });
    },
    ...{ send, call, reload, backUp },
    crash: (kind, cause) => {
      const victim = findVictim(cause);
      if (victim !== undefined) crashSlot(victim, kind, cause);
    },
    switchOff: (ms) => {
      offMs += ms;
      for (const slot of slots) end(slot, 'kill', { cause: 'the switch', restartMs: ms });
    },
    disturb: (cause, change) => {
      const victim = findVictim(cause)?.running?.process;
      if (victim === undefined) return;
      note(change(victim));
    },
    isUp: () => slots.every(({ running }) => running?.started !== undefined),
    crashes: () => crashes,
    offMs: () => offMs,
  };
}

interface ProgramParts {
  readonly process: SimulatedProcess;
  readonly http: SimulatedPort;
  readonly configs: SimulatedConfigs;
}

/** Starts all services as the single program composes them: a bus in the process, and direct calls. */
async function startProgram(
  options: MachineOptions,
  { process, http, configs }: ProgramParts,
): Promise<StartedProgram> {
  const { scheduler, draws, disk, backends, shared } = options;
  const { program } = options;
  const { secret, identities, inProcessMedia, connectGateway } = program;
  const log = openProcessLog(options, process);
  const clock = scheduler.openClock(process);
  const random = draws.bytes(() => scheduler.nameChoice('bytes'));
  const signingKey = new secret.Secret(SIGNING_KEY);
  const bus = shared?.bus.connect(process, log) ?? program.localBus.newLocalBus(clock, log);
  const foundation: Foundation = {
    ...{ clock, random, log, signingKey },
    newId: program.ids.newIds(clock, random),
    acceptedKeys: secret.acceptOnly(signingKey),
    metrics: program.metrics.newMetrics(false, clock),
    bus,
    tracing: program.trace.NO_TRACING,
    publicUrl: PUBLIC_URL,
    dataDir: disk.folder(),
  };
  const { openLog } = disk;
  const onDisk = <C extends { readonly store: ServiceSchema }>(config: C): C => ({
    ...config,
    store: {
      ...config.store,
      openLog,
      open: shared && (async () => shared.server.connect(config.store.name, process, program.sql.StoreUnavailable)),
    },
  });
  const connect = (service: Pick<RunningService, 'bindings'>, caller: Identity): Connect =>
    connectDirect(program, service, identities.toCaller(caller), clock);
  const billing = await program.billing.startBilling(onDisk(configs.billing), foundation);
  const media = await program.media.startMedia(onDisk(configs.media), foundation, {
    // no call comes over HTTP
    identify: () => identities.toCaller('operator'),
    openBackends: async () => backends.open(program, log),
  });
  const { openPool } = options;
  const tasks = await program.tasks.startTasks(onDisk(configs.tasks), foundation, {
    billing: connect(billing, 'tasks')(BillingService),
    calls: connect(billing, 'tasks')(CallService),
    media: connect(media, 'tasks')(MediaService),
    bytes: inProcessMedia.inProcessMediaBytes(media.bytes),
    openPool,
    haveWorkersHere: shared === undefined,
  });
  const operator = connectGateway.connectOperator(connect(tasks, 'operator'), connect(billing, 'operator'));
  const gateway = await program.gateway.startGateway(
    configs.gateway,
    foundation,
    {
      ...connectGateway.connectGateway(
        connect(tasks, 'gateway'),
        connect(billing, 'gateway'),
        connect(media, 'gateway'),
      ),
      media: inProcessMedia.inProcessMedia(media.bytes),
      operator: { ...operator, reach: async () => [], configuration: refuseConfiguration },
      openRelayPool: options.openPool,
    },
    { public: http.port, admin: undefined, isAllowedHost: () => true },
  );
  return {
    services: {
      ...{ channels: operator.tasks, accounts: operator.accounts, queue: operator.queue },
      tasks: connectDirect(program, tasks, CALLING_TEAM, clock)(TaskService),
    },
    reload: async (reloads) => {
      const { value } = options.readConfigs(reloads);
      for (const service of [billing, media, tasks, gateway]) await service.reload(value);
    },
  };
}

function refuseConfiguration(): never {
  throw new Error('the simulation has no console');
}

/** Connects a part of this process with the services of another part. Each release has its own descriptors. */
function connectDirect(
  { directClient }: Program,
  { bindings }: Pick<RunningService, 'bindings'>,
  caller: Caller,
  clock: Foundation['clock'],
): Connect {
  return <S extends DescService>({ typeName }: S) => {
    const binding = bindings.find(({ service }) => service.typeName === typeName);
    if (binding === undefined) throw new Error(`no binding serves ${typeName}`);
    return directClient.directClient(binding.service as S, binding, caller, clock);
  };
}

/** Writes the lines of the product into the log of events. The path of the disk differs from run to run. */
function openProcessLog(
  { scheduler, disk, events, onLine, onMessage }: MachineOptions,
  { name }: SimulatedProcess,
): Log {
  const at =
    (level: string, more: object) =>
    (fields: object, message: string): void => {
      const request = currentRequestId();
      const own = request === undefined ? fields : { ...fields, requestId: request };
      const said = showFields({ ...more, ...own }).replaceAll(disk.folder(), 'DATA');
      events.write(scheduler.now(), name, `${level} ${message} ${said}`);
      onMessage(message);
      onLine(message, own);
    };
  const open = (more: object): Log => ({
    debug: (_fields, message) => {
      onMessage(message);
    },
    info: at('info', more),
    warn: at('warn', more),
    error: at('error', more),
    access: () => undefined,
    child: (fields) => open({ ...more, ...fields }),
  });
  return open({});
}
