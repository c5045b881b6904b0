import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import type { Light, LightName } from '../../../console/api/operator-now.ts';
import { GetFaultsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { FaultHourSchema, FaultKind } from '@reelgate/proto/tasks/v1/activity';
import type { FaultHour, MinuteCounts } from '@reelgate/proto/tasks/v1/activity';
import { ACTIVITY_AT, aMinute, anActivity, beginOfMinute } from '../../../testing/an-activity.ts';
import { readStatus } from './status.ts';
import type { StatusInputs } from './status.ts';

const MINUTE_MS = 60_000;

const minuteStart = (ago: number): number => (1000 - ago) * MINUTE_MS;
const aLight = (name: LightName, grade: Light['grade'], over: Partial<Light> = {}): Light => ({
  name,
  grade,
  figure: '1',
  minutes: [],
  ...(grade === 'ok' ? {} : { why: `${name} are ${grade}` }),
  ...over,
});
const hitBy = (subject: string, ago: number, over: { byUpstream?: number; byClient?: number } = {}): FaultHour =>
  create(FaultHourSchema, { subject, minutes: [{ byUpstream: 1, ...over, minute: beginOfMinute(ago) }] });
interface Hit {
  readonly models?: readonly FaultHour[];
  readonly accounts?: readonly FaultHour[];
}
const faultsOf = ({ models = [], accounts = [] }: Hit = {}) =>
  create(GetFaultsResponseSchema, {
    now: timestampFromMs(ACTIVITY_AT),
    faults: [
      ...models.map((one) => ({ ...one, kind: FaultKind.MODEL })),
      ...accounts.map((one) => ({ ...one, kind: FaultKind.ACCOUNT })),
    ],
  });
const statusOf = (lights: readonly Light[], over: Partial<StatusInputs> = {}) =>
  readStatus({
    lights,
    activity: anActivity(),
    faults: faultsOf(),
    unreachable: new Set(),
    answeredAt: ACTIVITY_AT,
    pausedSince: undefined,
    refusedConfiguration: undefined,
    ...over,
  });

describe('the line above every page', () => {
  test('says nothing while every light is green', () => {
    expect(statusOf([aLight('creates', 'ok'), aLight('channels', 'ok')])).toBeUndefined();
  });

  test('names the cause before its effects, and counts the others', () => {
    const lights = [aLight('ends', 'fail'), aLight('creates', 'fail'), aLight('channels', 'fail')];
    expect(statusOf(lights)).toMatchObject({ what: 'channels are fail', href: '/console/channels', more: 2 });
  });

  test('names what is red before what is yellow, whatever the cause', () => {
    const lights = [aLight('channels', 'warn'), aLight('settlements', 'fail')];
    expect(statusOf(lights)).toMatchObject({ grade: 'fail', what: 'settlements are fail', more: 1 });
  });

  test('says first that a service is away, before what follows from it', () => {
    const creates = aLight('creates', 'fail', { why: 'billing cannot be reached, so creates are refused' });
    const status = statusOf([aLight('channels', 'fail'), creates], { unreachable: new Set(['billing']) });
    expect(status).toMatchObject({ what: creates.why, runbook: 'ReelgatePeerUnreachable', more: 1 });
  });

  test('says that tasks do not answer, and since when they do not, and no light that it cannot know', () => {
    const status = statusOf([aLight('creates', 'fail')], { activity: undefined, answeredAt: 5 });
    expect(status).toEqual({
      grade: 'fail',
      what: 'the tasks service does not answer',
      runbook: 'ReelgateServiceAbsent',
      href: '/console',
      since: 5,
      more: 0,
    });
  });

  test('says no time of a gateway that was never answered', () => {
    expect(statusOf([], { activity: undefined, answeredAt: undefined })).not.toHaveProperty('since');
  });

  test('says that a configuration is refused without its reason, which can have values, and last', () => {
    const refused = { refusedConfiguration: 'channels[0].api_key: a secret is too short' };
    expect(statusOf([], refused)).toMatchObject({ grade: 'warn', runbook: 'ReelgateConfigRefused', more: 0 });
    expect(JSON.stringify(statusOf([], refused))).not.toContain('secret');
    expect(statusOf([aLight('attention', 'warn')], refused)).toMatchObject({ what: 'attention are warn', more: 1 });
  });
});

describe('the time since which it is so', () => {
  const creates = [aLight('creates', 'fail')];
  const since = (minutes: readonly MinuteCounts[]): number | undefined =>
    statusOf(creates, { activity: anActivity({ minutes }) })?.since;
  const refused = (ago: number) => aMinute(ago, { refusedByUpstream: 1 });

  test('is the first bad minute of a run whose pauses are ten minutes at most', () => {
    expect(since([refused(25), refused(14), refused(4), refused(0)])).toBe(minuteStart(25));
    expect(since([refused(25), refused(13), refused(2)])).toBe(minuteStart(13));
  });

  test('is not known of a fault without a bad minute in the last hour', () => {
    expect(since([refused(70)])).toBeUndefined();
    expect(since([aMinute(3, { refusedByClient: 5 })])).toBeUndefined();
  });

  test('is that of the oldest late poll, settlement and decision', () => {
    const activity = anActivity({ pollLagMs: 7000, unsettledMs: 9000, attentionSince: 11 });
    const of = (name: LightName) => statusOf([aLight(name, 'fail')], { activity })?.since;
    expect([of('polls'), of('settlements'), of('attention')]).toEqual([ACTIVITY_AT - 7000, ACTIVITY_AT - 9000, 11]);
  });

  test('is that of the pause, if no attempt on a channel failed', () => {
    expect(statusOf([aLight('channels', 'fail')], { pausedSince: 3 })?.since).toBe(3);
  });
});

describe('who is hit', () => {
  const creates = [aLight('creates', 'fail')];

  test('is at most three models and accounts, and the number of the others', () => {
    const models = ['a', 'b', 'c', 'd', 'e'].map((id) => hitBy(id, 2));
    const accounts = ['x', 'y'].map((id) => hitBy(id, 2));
    expect(statusOf(creates, { faults: faultsOf({ models, accounts }) })?.hit).toEqual({
      models: ['a', 'b', 'c'],
      moreModels: 2,
      accounts: ['x', 'y'],
      moreAccounts: 0,
    });
  });

  test('leaves out faults of more than ten minutes ago, those of clients, and those without a name', () => {
    const old = hitBy('old', 11);
    const own = hitBy('own', 1, { byUpstream: 0, byClient: 9 });
    expect(statusOf(creates, { faults: faultsOf({ models: [old, own, hitBy('', 1)] }) })).not.toHaveProperty('hit');
  });

  test('is the models that no channel serves, where there are some', () => {
    const unserved = [{ models: ['A', 'B'], more: 4, endpoints: ['video.generation'], why: 'east is paused' }];
    const status = statusOf([aLight('channels', 'fail', { unserved })], {
      faults: faultsOf({ models: [hitBy('other', 1)] }),
    });
    expect([status?.hit?.models, status?.hit?.moreModels, status?.runbook]).toEqual([
      ['A', 'B'],
      4,
      'ReelgateNoChannel',
    ]);
  });

  test('is left out if the faults cannot be read, and the fault is still said', () => {
    const status = statusOf(creates, { faults: undefined });
    expect(status).toMatchObject({ what: 'creates are fail' });
    expect(status).not.toHaveProperty('hit');
  });

  test('is said of no late poll or settlement, which hit every model alike', () => {
    const faults = faultsOf({ models: [hitBy('a', 1)] });
    expect(statusOf([aLight('polls', 'fail')], { faults })).not.toHaveProperty('hit');
    expect(statusOf([aLight('settlements', 'fail')], { faults })).not.toHaveProperty('hit');
  });
});
