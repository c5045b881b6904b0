import type { Bus } from '@reelgate/platform/bus/bus';
import { countRedeliveries, watchBus } from '@reelgate/platform/bus/bus-metrics';
import type { BusSettings } from '@reelgate/platform/bus/bus-settings';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import type { NatsBusOptions } from '@reelgate/platform/bus/nats-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import { describeServer, whenReachable } from '@reelgate/platform/lifecycle/when-reachable';
import type { Log } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { openTracing } from '@reelgate/platform/trace/open-tracing';
import type { OpenedTracing } from '@reelgate/platform/trace/open-tracing';
import { traceSettings } from '@reelgate/platform/trace/trace-settings';
import type { ProgramConfig, ServiceName } from './config/program-config.ts';
import { readAcceptedKeys } from './keys/service-key.ts';
import { keepPrivate } from './data-folder/private-data.ts';
import { PROGRAM_VERSION } from './version.ts';

export interface OpenOptions {
  readonly config: ProgramConfig;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly service: ServiceName | undefined;
}

/** The parts that every service uses, except the bus, and the values that the checks of the process read. */
export interface BaseFoundation extends FoundationWithoutBus, OpenedTracing {}

export type FoundationWithoutBus = Omit<Foundation, 'bus'>;

/** Opens the metrics and the other parts of the process. */
export async function openFoundation({ config, environment, service }: OpenOptions, log: Log): Promise<BaseFoundation> {
  secureData(config.dataDir, log);
  const acceptedKeys = readAcceptedKeys(config);
  const metrics = newMetrics(true);
  publishBuild(metrics, environment['REELGATE_COMMIT']);
  const name = service === undefined ? 'reelgate' : `reelgate-${service}`;
  const parts = { clock: systemClock, random: systemRandom, newId: newIds(systemClock), log, metrics };
  return {
    ...parts,
    ...(await openTracing(traceSettings(config.tracing, environment), { ...parts, name })),
    signingKey: acceptedKeys.signatures[0],
    acceptedKeys,
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
  };
}

function secureData(folder: string, log: Log): void {
  const { repaired, left } = keepPrivate(folder);
  if (repaired > 0)
    log.warn({ folder, files: repaired }, 'other users of this machine could read the data folder; it is private now');
  if (left > 0) log.warn({ folder, files: left }, 'other users of this machine can read files of the data folder');
}

/** Opens the bus as soon as its server can be reached. */
export async function openBus({ bus }: ProgramConfig, { clock, log, metrics, tracing }: BaseFoundation): Promise<Bus> {
  const options = { tracing, redeliveries: countRedeliveries(metrics) };
  const opened = bus === undefined ? newLocalBus(clock, log, options) : await reachNats(bus, { clock, log }, options);
  watchBus(gaugeSampler(metrics, { service: 'bus', clock, log }), opened);
  return opened;
}

/** The client of NATS loads only where there is a server. */
async function reachNats(
  settings: BusSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  options: NatsBusOptions,
): Promise<Bus> {
  const { isBusAway, openNatsBus } = await import('@reelgate/platform/bus/nats-bus');
  const dependency = settings.servers.map((server) => describeServer('NATS', server.reveal())).join(', ');
  return whenReachable(() => openNatsBus(settings, log, options), { clock, log, dependency, isAway: isBusAway });
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** Publishes the version of the program. The image names the commit from which it was built. */
function publishBuild(metrics: Metrics, commit = ''): void {
  metrics
    .gauge('reelgate_build_info', 'The version of this program and the commit that it was built from; always 1', [
      'version',
      'commit',
    ])
    .labels(PROGRAM_VERSION, COMMIT.test(commit) ? commit : 'unknown')
    .set(1);
}
