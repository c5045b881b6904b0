import type { Bus } from '@reelgate/platform/bus/bus';
import { openLocalBus } from '@reelgate/platform/bus/local-bus';
import { openNatsBus } from '@reelgate/platform/bus/nats-bus';
import { systemClock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { openMetrics } from '@reelgate/platform/metrics/metrics';
import type { ProgramConfig } from './config/program-config.ts';
import { acceptedKeysOf, signingKeyIn } from './signing-key.ts';

/** Opens the bus, the log, the metrics and the other parts that every service uses. */
export async function openFoundation(config: ProgramConfig, log: Log): Promise<Foundation> {
  const bus: Bus = config.bus === undefined ? openLocalBus(systemClock, log) : await openNatsBus(config.bus, log);
  const signingKey = signingKeyIn(config.dataDir, config.signingKey);
  return {
    clock: systemClock,
    random: systemRandom,
    newId: newIds(systemClock),
    log,
    metrics: openMetrics(true),
    bus,
    signingKey,
    acceptedKeys: acceptedKeysOf(signingKey, config.otherSigningKeys),
    publicUrl: config.publicUrl,
    dataDir: config.dataDir,
  };
}
