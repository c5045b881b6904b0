import { describeStoreFault } from '@reelgate/platform/sql/store-checks';
import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import { probeStore } from '@reelgate/platform/sql/migrate-store';
import type { CalledService, ProgramConfig } from '../../program/config/program-config.ts';
import { readStoreSettings } from '../service-stores.ts';
import { awaitAnswer } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import type { Report } from './doctor-line.ts';

/**
 * Looks at the store of a service that does not answer, because most starts wait for it. Tells a line only if the store
 * cannot be used from this machine.
 */
export async function askStore(
  config: ProgramConfig,
  service: CalledService,
  deadline: Deadline,
  report: Report,
): Promise<void> {
  if (deadline.leftMs() === 0) return;
  const error = await awaitAnswer<unknown>(
    deadline,
    () =>
      probeStore(readStoreSettings(config, service)).then(
        () => undefined,
        (refused: unknown) => refused,
      ),
    () => undefined,
  );
  if (error === undefined) return;
  const { detail, advice = '' } = describeStoreFault(error) ?? {
    detail: describeError(error),
    advice: 'repair it first: the service waits for its store, or has ended without it',
  };
  report({ subject: service, part: 'database', grade: 'fail', detail: `seen from here, ${detail}`, advice });
}
