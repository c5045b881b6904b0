import type { Bus } from '@reelgate/platform/bus/bus';
import { openLocalBus } from '@reelgate/platform/bus/local-bus';
import { isBusAway, openNatsBus } from '@reelgate/platform/bus/nats-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { nameOfUrl, whenReachable } from '@reelgate/platform/lifecycle/when-reachable';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import type { ProgramConfig } from './config/program-config.ts';
import { acceptedKeysOf, signingKeyIn } from './signing-key.ts';

/** Opens the metrics and the other parts that every service uses, except the bus. */
export function openFoundation(config: ProgramConfig, log: Log): Omit<Foundation, 'bus'> {
  const signingKey = signingKeyIn(config.dataDir, config.signingKey);
  return {
    clock: systemClock,
    random: systemRandom,
    newId: newIds(systemClock),
    log,
    metrics: openMetrics(true),
    signingKey,
    acceptedKeys: acceptedKeysOf(signingKey, config.otherSigningKeys),
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
  };
}

/** Opens the bus as soon as its server can be reached. */
export async function openBus(
  { bus }: Pick<ProgramConfig, 'bus'>,
  { clock, log }: Pick<Foundation, 'clock' | 'log'>,
): Promise<Bus> {
  if (bus === undefined) return openLocalBus(clock, log);
  const dependency = bus.servers.map((server) => nameOfUrl('NATS', server.reveal())).join(', ');
  return whenReachable(() => openNatsBus(bus, log), { clock, log, dependency, isAway: isBusAway });
}
