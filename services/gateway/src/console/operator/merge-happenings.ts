import type { HandOverEntry } from '../../../console/api/operator-hand-over.ts';
import type { HandOverEvent } from '../../clients/hand-over-client.ts';

const MINUTE_MS = 60_000;
const CONFIGURATION = 'configuration_applied';
/** The tasks service writes its own without a subject. */
const WRITER = 'tasks';

type HappeningEntry = Extract<HandOverEntry, { readonly kind: 'happening' }>;

/** Every service tells that it took a configuration up; those of one minute are one entry. */
export function mergeHappenings(happenings: readonly HandOverEvent[]): readonly HappeningEntry[] {
  const applied = Map.groupBy(
    happenings.filter(({ type }) => type === CONFIGURATION),
    ({ at }) => Math.floor(at / MINUTE_MS),
  );
  const configurations = [...applied.values()].map((ofMinute): HappeningEntry => ({
    kind: 'happening',
    at: Math.max(...ofMinute.map(({ at }) => at)),
    type: CONFIGURATION,
    subject: '',
    services: ofMinute.map(({ subject }) => subject || WRITER).toSorted(),
  }));
  const others = happenings.filter(({ type }) => type !== CONFIGURATION);
  return [...configurations, ...others.map((one): HappeningEntry => ({ kind: 'happening', ...one }))];
}
