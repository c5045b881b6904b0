import { FaultKind } from '@reelgate/proto/tasks/v1/pulse';
import type {
  ChannelFailure as WireFailure,
  FaultHour,
  FaultMinute as WireMinute,
} from '@reelgate/proto/tasks/v1/pulse';
import type { ChannelFailureRow } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** The most failures of a channel that a page shows. */
const FAILURES_SHOWN = 20;

/** Refused creates and failed tasks of a minute, by what caused them. */
export interface FaultMinute {
  readonly at: number;
  readonly byClient: number;
  readonly byUpstream: number;
  readonly byUs: number;
}

export interface SubjectFaults {
  /** Empty: models that are not configured, or what is beyond the bound of a process. */
  readonly subject: string;
  readonly minutes: readonly FaultMinute[];
}

/** The faults of the last hour, the worst first. */
export interface Faults {
  readonly now: number;
  readonly models: readonly SubjectFaults[];
  readonly moreModels: number;
  readonly accounts: readonly SubjectFaults[];
  readonly moreAccounts: number;
}

export interface FaultReads {
  faults(caller: Caller): Promise<Faults>;
  /** The last failures of a channel, the newest first. */
  failures(channel: string, caller: Caller): Promise<readonly ChannelFailureRow[]>;
}

export function faultReads({ tasks }: OperatorClients): FaultReads {
  return {
    faults: async (caller) => {
      const { faults, now, moreModels, moreAccounts } = await tasks.getFaults({}, withDeadline(caller));
      const ofKind = (wanted: FaultKind) => faults.filter(({ kind }) => kind === wanted).map(fromWireFaults);
      return {
        now: toMs(now) ?? 0,
        models: ofKind(FaultKind.MODEL),
        moreModels,
        accounts: ofKind(FaultKind.ACCOUNT),
        moreAccounts,
      };
    },
    failures: async (channel, caller) =>
      (await tasks.listChannelFailures({ channel, limit: FAILURES_SHOWN }, withDeadline(caller))).failures.map(
        fromWireFailure,
      ),
  };
}

function fromWireFaults({ subject, minutes }: FaultHour): SubjectFaults {
  return { subject, minutes: minutes.map(fromWireMinute) } satisfies MessageMapping<FaultHour, 'kind'>;
}

function fromWireMinute({ minute, byClient, byUpstream, byUs }: WireMinute): FaultMinute {
  return {
    at: toMs(minute) ?? 0,
    byClient: Number(byClient),
    byUpstream: Number(byUpstream),
    byUs: Number(byUs),
  } satisfies MessageMapping<WireMinute, 'minute'>;
}

function fromWireFailure({ at, kind, taskId, error }: WireFailure): ChannelFailureRow {
  return { at: toMs(at) ?? 0, kind, taskId, error } satisfies MessageMapping<WireFailure>;
}
