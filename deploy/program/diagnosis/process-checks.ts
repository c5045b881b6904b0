import type { Clock } from '@reelgate/platform/clock';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck, Verdict } from '@reelgate/platform/diagnosis/self-checks';
import type { OpenedTracing } from '@reelgate/platform/trace/open-tracing';
import type { Bus } from '@reelgate/platform/bus/bus';
import { describeServer } from '@reelgate/platform/lifecycle/when-reachable';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { RECENT_MINUTES } from '@reelgate/platform/trace/dropped-spans';
import type { DropReason, RecentDrops } from '@reelgate/platform/trace/dropped-spans';
import type { ProgramConfig } from '../config/program-config.ts';
import type { ConfigState } from '../watch-config.ts';
import type { ProgramTls } from '../ports/program-tls.ts';
import { findShared } from '../data-folder/private-data.ts';
import type { ProcessDiagnosis } from './process-diagnosis.ts';

const DAY_MS = 24 * 3_600_000;
const EXPIRY_WARN_MS = 14 * DAY_MS;
const EXPIRY_FAIL_MS = 2 * DAY_MS;
/** The maximum number of files and folders of the data folder that one question examines. */
const SEARCHED_MAX = 5000;
/** A connected peer answers immediately. */
const PEER_MS_MAX = 1000;

export interface ProcessParts {
  readonly config: ProgramConfig;
  readonly bus: Bus;
  readonly tls: ProgramTls;
  readonly clock: Clock;
  readonly diagnosis: ProcessDiagnosis;
  readonly recentDrops: OpenedTracing['recentDrops'];
}

/** Returns the checks of the parts that all services of a process share. */
export function processChecks(parts: ProcessParts): readonly SelfCheck[] {
  const { config, bus, tls, clock, diagnosis, recentDrops } = parts;
  return [
    { part: 'configuration', check: async () => checkConfiguration(diagnosis.configuration()) },
    { part: 'data folder', check: async () => checkDataFolder(config.dataDir) },
    ...(config.bus === undefined ? [] : [{ part: 'bus', check: async () => checkBus(config.bus, bus) }]),
    tracesCheck(recentDrops),
    ...tls.current().map(({ name }) => ({
      part: `certificate of ${name}`,
      check: async () => checkCertificate(tls, name, clock.now()),
    })),
  ];
}

/** Creates the checks of whether this process reaches the services that it calls. */
export function peerChecks(connections: Readonly<Record<string, GrpcConnection>>): readonly SelfCheck[] {
  return Object.entries(connections).map(([name, connection]) => ({
    part: `calls to ${name}`,
    check: async () => {
      try {
        await connection.ready(PEER_MS_MAX);
        return ok('connected');
      } catch {
        return {
          grade: 'fail',
          detail: `${name} is not reached`,
          advice: `check that ${name} runs and is ready, its address gateway.services.${name}, and the network between them`,
        };
      }
    },
  }));
}

function checkConfiguration(state: ConfigState | undefined): Verdict {
  if (state?.refused !== undefined)
    return {
      grade: 'warn',
      detail: `the newest files are refused, and the old configuration stays: ${state.refused}`,
      advice: 'repair the files; reelgate config check FILES',
    };
  if (state !== undefined && state.pending.length > 0)
    return {
      grade: 'warn',
      detail: `changed settings wait for a start: ${state.pending.join(', ')}`,
      advice: 'restart this process',
    };
  return ok('the files are in use');
}

function checkDataFolder(folder: string): Verdict {
  const shared = findShared(folder, SEARCHED_MAX);
  if (shared.length === 0) return ok(`only its own user reads ${folder}`);
  return {
    grade: 'warn',
    detail: `other users can read ${shared[0] ?? ''}; files and folders of ${folder} that they can read: ${shared.length}`,
    advice: `chmod -R go= ${folder}`,
  };
}

function checkBus(settings: ProgramConfig['bus'], bus: Bus): Verdict {
  const servers = (settings?.servers ?? []).map((server) => describeServer('NATS', server.reveal())).join(', ');
  return bus.ready()
    ? ok(`${servers} is connected`)
    : {
        grade: 'fail',
        detail: `${servers} is not connected`,
        advice: 'start NATS or repair the network; events wait in the outbox meanwhile, and no event is lost',
      };
}

function checkCertificate(tls: ProgramTls, name: string, now: number): Verdict {
  const expiresAt = tls.current().find((one) => one.name === name)?.expiresAt;
  if (expiresAt === undefined) return ok('has no end');
  const leftMs = expiresAt - now;
  const detail = `expires ${new Date(expiresAt).toISOString()}`;
  if (leftMs > EXPIRY_WARN_MS) return ok(detail);
  return {
    grade: leftMs < EXPIRY_FAIL_MS ? 'fail' : 'warn',
    detail,
    advice: 'renew it; the files are read by themselves',
  };
}

const CAUSES: Readonly<Record<DropReason, string>> = {
  queue_full: 'more waited than fit into the queue',
  not_sent: 'the receiver did not take them',
};
const ADVICE: Readonly<Record<DropReason, string>> = {
  queue_full: 'lower tracing.sample, or raise OTEL_BSP_MAX_QUEUE_SIZE if the receiver keeps up with it',
  not_sent: 'start or repair the receiver at tracing.endpoint, and check tracing.headers',
};

/**
 * Reports whether the spans of this process reach their receiver. `recentDrops` is undefined if no spans are recorded.
 */
export function tracesCheck(recentDrops: (() => RecentDrops) | undefined): SelfCheck {
  return { part: 'traces', check: async () => (recentDrops === undefined ? OFF : judgeDrops(recentDrops())) };
}

const OFF = ok('off: tracing.endpoint names no receiver, so no trace is recorded');

function judgeDrops({ spans, reasons, fault }: RecentDrops): Verdict {
  if (spans === 0) return ok(`spans are sent, and none was dropped in ${RECENT_MINUTES} minutes`);
  const causes = reasons.map((reason) => CAUSES[reason]).join(', and ');
  return {
    grade: 'warn',
    detail:
      `${spans} spans were dropped in ${RECENT_MINUTES} minutes: ${causes}` +
      (fault === undefined ? '' : ` (${fault})`),
    advice: reasons.map((reason) => ADVICE[reason]).join('; '),
  };
}
