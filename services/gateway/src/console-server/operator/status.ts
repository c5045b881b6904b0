import type { Light, LightName } from '../../../console/api/operator-now.ts';
import type { OperatorStatus, Runbook, WhoIsHit } from '../../../console/api/operator-status.ts';
import { FaultKind } from '@reelgate/proto/tasks/v1/activity';
import type { MinuteCounts } from '@reelgate/proto/tasks/v1/activity';
import type { GetFaultsResponse, GetActivityResponse } from '@reelgate/proto/tasks/v1/operator_service';
import { toMs } from '../../clients/wire-values.ts';
import { countChannelFaults } from './fault-series.ts';
import { readBegin, readClock, sumLastHour } from './minute-series.ts';
import type { Caller } from '../../clients/caller.ts';
import { gradeLights } from './lights.ts';
import { readHealth } from './now-route.ts';
import type { NowParts } from './now-route.ts';

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
/** Bad minutes with no longer pause between them belong to one fault. */
const GAP_MINUTES = 10;
const NAMED_MAX = 3;
/** Every page of every operator asks; the services are asked once in this time. */
const FRESH_MS = 5000;

/** The figures of which the status consists. */
export interface StatusInputs {
  readonly lights: readonly Light[];
  /** Undefined if the tasks service does not answer. */
  readonly activity: GetActivityResponse | undefined;
  /** Undefined if they cannot be read. */
  readonly faults: GetFaultsResponse | undefined;
  /** The services that this process does not reach. */
  readonly unreachable: ReadonlySet<string>;
  /** The time of the last answer of the tasks service. */
  readonly answeredAt: number | undefined;
  /** Since when the first paused channel is paused. */
  readonly pausedSince: number | undefined;
  /** The reason for which the newest configuration is not in use. */
  readonly refusedConfiguration: string | undefined;
}

interface Fault extends Pick<OperatorStatus, 'grade' | 'what' | 'runbook' | 'href'> {
  readonly since: number | undefined;
  readonly hit: WhoIsHit | undefined;
}

/** A light that comes before another one is more often its cause. */
const CAUSE_FIRST: readonly LightName[] = ['channels', 'creates', 'polls', 'ends', 'settlements', 'attention'];
const HREFS: Readonly<Record<LightName, string>> = {
  channels: '/console/channels',
  creates: '/console',
  polls: '/console/channels',
  ends: '/console/tasks?state=failed',
  settlements: '/console/money',
  attention: '/console/attention',
};

/** Finds the worst current fault, causes first. Returns undefined if all is well. */
export function readStatus(inputs: StatusInputs): OperatorStatus | undefined {
  const faults = listFaults(inputs);
  const [first] = [...faults.filter(({ grade }) => grade === 'fail'), ...faults];
  if (first === undefined) return undefined;
  const { since, hit, ...rest } = first;
  return {
    ...rest,
    ...(since === undefined ? {} : { since }),
    ...(hit === undefined ? {} : { hit }),
    more: faults.length - 1,
  };
}

function listFaults(inputs: StatusInputs): readonly Fault[] {
  const { activity, lights, unreachable, answeredAt, refusedConfiguration } = inputs;
  const refused: readonly Fault[] =
    refusedConfiguration === undefined
      ? []
      : [
          {
            grade: 'warn',
            what: 'the newest configuration is refused, so the one before is in use',
            runbook: 'ReelgateConfigRefused',
            href: '/console/configuration',
            since: undefined,
            hit: undefined,
          },
        ];
  if (activity === undefined) {
    const what = 'the tasks service does not answer';
    const runbook = 'ReelgateServiceAbsent';
    return [{ grade: 'fail', what, runbook, href: '/console', since: answeredAt, hit: undefined }, ...refused];
  }
  const byName = new Map(lights.map((light) => [light.name, light]));
  const faulty = CAUSE_FIRST.flatMap((name) => {
    const light = byName.get(name);
    return light === undefined || light.grade === 'ok' ? [] : [toFault(light, light.grade, inputs, activity)];
  });
  const isAway = (fault: Fault): boolean => unreachable.size > 0 && fault.runbook === 'ReelgatePeerUnreachable';
  return [...faulty.filter(isAway), ...faulty.filter((fault) => !isAway(fault)), ...refused];
}

function toFault(light: Light, grade: Fault['grade'], inputs: StatusInputs, activity: GetActivityResponse): Fault {
  const { name, why = '', unserved = [] } = light;
  const models = unserved.flatMap((group) => group.models);
  const hidden = unserved.reduce((sum, { more }) => sum + more, 0);
  return {
    grade,
    what: why,
    runbook: chooseRunbook(light, inputs),
    href: HREFS[name],
    since: findSince(name, inputs, activity),
    hit: name === 'settlements' || name === 'polls' ? undefined : findHit(inputs.faults, models, hidden),
  };
}

function chooseRunbook({ name, grade, why = '' }: Light, { unreachable }: StatusInputs): Runbook {
  if (name === 'creates') {
    const isPeer = [...unreachable].some((service) => why.startsWith(`${service} cannot be reached`));
    return isPeer ? 'ReelgatePeerUnreachable' : 'ReelgateChannelRefuses';
  }
  if (name === 'channels') return grade === 'fail' ? 'ReelgateNoChannel' : 'ReelgateChannelDown';
  return RUNBOOKS[name];
}

const RUNBOOKS: Readonly<Record<Exclude<LightName, 'creates' | 'channels'>, Runbook>> = {
  polls: 'ReelgatePollLag',
  ends: 'ReelgateChannelRefuses',
  settlements: 'ReelgateSettlementBehind',
  attention: 'ReelgateAttentionWaiting',
};

function findSince(name: LightName, { pausedSince }: StatusInputs, activity: GetActivityResponse): number | undefined {
  const { minutes, attentionSince, channels } = activity;
  const [now, pollLagMs, unsettledMs] = [readClock(activity), Number(activity.pollLagMs), Number(activity.unsettledMs)];
  const since = (count: (minute: MinuteCounts) => number) => findRunStart(sumLastHour(minutes, now, count), now);
  const ofChannels = channels.flatMap((hour) => hour.minutes);
  const starts: Readonly<Record<LightName, () => number | undefined>> = {
    creates: () => since(({ refusedByUpstream, refusedByUs }) => refusedByUpstream + refusedByUs),
    ends: () => since(({ failedByUpstream }) => failedByUpstream),
    polls: () => (pollLagMs > 0 ? now - pollLagMs : since(({ latePolls }) => latePolls)),
    settlements: () => now - unsettledMs,
    attention: () => toMs(attentionSince),
    channels: () => findRunStart(sumLastHour(ofChannels, now, countChannelFaults), now) ?? pausedSince,
  };
  return starts[name]();
}

/** Finds the begin of the last run of bad minutes among the last sixty, or undefined. */
function findRunStart(minutes: readonly number[], now: number): number | undefined {
  let start: number | undefined;
  for (let place = minutes.length - 1; place >= 0; place -= 1) {
    if ((minutes[place] ?? 0) > 0) start = place;
    else if ((start ?? minutes.length) - place > GAP_MINUTES) break;
  }
  if (start === undefined) return undefined;
  return Math.floor(now / MINUTE_MS) * MINUTE_MS - (HOUR_MINUTES - 1 - start) * MINUTE_MS;
}

function findHit(
  faults: GetFaultsResponse | undefined,
  unserved: readonly string[],
  hidden: number,
): WhoIsHit | undefined {
  const models = unserved.length > 0 ? unserved : listHit(faults, FaultKind.MODEL);
  const accounts = listHit(faults, FaultKind.ACCOUNT);
  if (models.length === 0 && accounts.length === 0) return undefined;
  return {
    models: models.slice(0, NAMED_MAX),
    moreModels: Math.max(0, models.length - NAMED_MAX) + hidden,
    accounts: accounts.slice(0, NAMED_MAX),
    moreAccounts: Math.max(0, accounts.length - NAMED_MAX),
  };
}

/** Lists the models or accounts with faults of upstreams or of ours in the last ten minutes. */
function listHit(read: GetFaultsResponse | undefined, wanted: FaultKind): readonly string[] {
  if (read === undefined) return [];
  const from = readClock(read) - GAP_MINUTES * MINUTE_MS;
  return read.faults
    .filter(
      ({ kind, subject, minutes }) =>
        kind === wanted &&
        subject !== '' &&
        minutes.some((one) => readBegin(one) >= from && one.byUpstream + one.byUs > 0),
    )
    .map(({ subject }) => subject);
}

export type ReadOperatorStatus = (caller: Caller) => Promise<OperatorStatus | undefined>;

/** Reads what is wrong now. Questions of the same few seconds share one answer. */
export function watchStatus(parts: NowParts): ReadOperatorStatus {
  let last: { readonly at: number; readonly status: Promise<OperatorStatus | undefined> } | undefined;
  let answeredAt: number | undefined;
  const read = async (caller: Caller): Promise<OperatorStatus | undefined> => {
    const { clock, clients } = parts;
    const { activity, channels, faults, unreachable } = await readHealth(parts, caller);
    if (activity !== undefined) answeredAt = clock.now();
    const paused = (channels ?? []).flatMap(({ pause }) => toMs(pause?.at) ?? []);
    return readStatus({
      lights: gradeLights({ activity, channels, unreachable }),
      ...{ activity, faults, unreachable, answeredAt },
      pausedSince: paused.length === 0 ? undefined : Math.min(...paused),
      refusedConfiguration: clients.configuration().refused,
    });
  };
  return (caller) => {
    const now = parts.clock.now();
    if (last === undefined || now - last.at >= FRESH_MS || now < last.at) last = { at: now, status: read(caller) };
    return last.status;
  };
}
