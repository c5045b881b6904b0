import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { GetFaultsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { GetFaultsResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { FaultHourSchema, FaultKind, FaultMinuteSchema } from '@reelgate/proto/tasks/v1/activity';
import type { FaultHour } from '@reelgate/proto/tasks/v1/activity';
import { addFaults, noFaults } from '../../domain/faults.ts';
import type { FaultCounts, FaultRow } from '../../domain/faults.ts';
import { MINUTE_MS, floorToMinute } from '../../domain/minute-counts.ts';
import type { FaultReader } from '../../store/operator-store.ts';

const MINUTES = 60;
/** With more, the oldest minutes are missing. */
const ROWS_MAX = 50_000;
/** The most models, and the most accounts, that are shown. */
const SUBJECTS_SHOWN = 50;

/** The faults of a model or an account. */
interface SubjectFaults {
  readonly subject: string;
  /** By minute, the oldest first. */
  readonly minutes: ReadonlyMap<number, FaultCounts>;
}

/** Reads the faults of the last hour in all processes together, by model and by account, the worst first. */
export async function readFaults(operators: FaultReader, clock: Clock): Promise<GetFaultsResponse> {
  const now = clock.now();
  const rows = await operators.faultsSince(floorToMinute(now) - (MINUTES - 1) * MINUTE_MS, ROWS_MAX);
  const [models, accounts] = [sumFaults(rows, 'model'), sumFaults(rows, 'account')];
  return toMessage(GetFaultsResponseSchema, {
    now: timestampFromMs(now),
    faults: [
      ...models.slice(0, SUBJECTS_SHOWN).map((faults) => describeHour(FaultKind.MODEL, faults)),
      ...accounts.slice(0, SUBJECTS_SHOWN).map((faults) => describeHour(FaultKind.ACCOUNT, faults)),
    ],
    moreModels: Math.max(0, models.length - SUBJECTS_SHOWN),
    moreAccounts: Math.max(0, accounts.length - SUBJECTS_SHOWN),
  });
}

function describeHour(kind: FaultKind, { subject, minutes }: SubjectFaults): FaultHour {
  return toMessage(FaultHourSchema, {
    kind,
    subject,
    minutes: [...minutes].map(([minute, { client, upstream, us }]) =>
      toMessage(FaultMinuteSchema, {
        minute: timestampFromMs(minute),
        byClient: client,
        byUpstream: upstream,
        byUs: us,
      }),
    ),
  });
}

function sumFaults(rows: readonly FaultRow[], wanted: FaultRow['kind']): readonly SubjectFaults[] {
  const subjects = new Map<string, Map<number, FaultCounts>>();
  for (const { minute, kind, subject, json } of rows.toReversed()) {
    if (kind !== wanted) continue;
    const minutes = subjects.get(subject) ?? new Map<number, FaultCounts>();
    subjects.set(subject, minutes);
    const counts = minutes.get(minute) ?? noFaults();
    minutes.set(minute, counts);
    addFaults(counts, JSON.parse(json) as Partial<FaultCounts>);
  }
  const found = [...subjects].map(([subject, minutes]) => ({ subject, minutes }));
  return found.toSorted((one, other) => weigh(other) - weigh(one));
}

/** Any fault of ours or of an upstream weighs more than those that clients caused. */
function weigh({ minutes }: SubjectFaults): number {
  const sum = noFaults();
  for (const counts of minutes.values()) addFaults(sum, counts);
  const faults = sum.upstream + sum.us;
  return faults + sum.client / (sum.client + 1);
}
