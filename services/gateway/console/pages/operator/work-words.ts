import type { Causes, Grade, LightName } from '../../api/operator-now.ts';

/** The texts of the pages about work that runs or waits. */
export const workWords = {
  now: {
    title: 'Now',
    allGood: 'All six lights are in order.',
    some: (count: number) => (count === 1 ? 'One light needs a look.' : `${count} lights need a look.`),
    lights: 'Lights',
    names: {
      creates: 'Creates',
      polls: 'Polls on time',
      ends: 'Ended tasks',
      settlements: 'Settlements',
      channels: 'Channels',
      attention: 'Attention',
    } satisfies Record<LightName, string>,
    grades: { ok: 'In order', warn: 'Look at it', fail: 'Act now' } satisfies Record<Grade, string>,
    recovering: 'Recovering',
    fine: {
      creates: 'orders are taken',
      polls: 'upstreams are polled when they are due',
      ends: 'upstreams do the work',
      settlements: 'what ends is settled',
      channels: 'every model has a channel',
      attention: 'no task waits for a decision',
    } satisfies Record<LightName, string>,
    counted: {
      creates: 'creates',
      polls: 'late polls',
      ends: 'ended tasks',
      settlements: 'settlements',
      channels: 'faults of channels',
      attention: 'entries',
    } satisfies Record<LightName, string>,
    open: {
      creates: 'Tasks',
      polls: 'Running tasks',
      ends: 'Failed tasks',
      settlements: 'Money',
      channels: 'Channels',
      attention: 'The queue',
    } satisfies Record<LightName, string>,
    /** The picture of an hour in words. */
    hour: (what: string, minutes: readonly number[]) => {
      const [low, high] = [Math.min(...minutes), Math.max(...minutes)];
      return `Last hour, ${what} a minute: ${figure(low)} to ${figure(high)}, now ${figure(minutes.at(-1) ?? 0)}`;
    },
    changed: (name: string, grade: string) => `${name}: ${grade}`,
    causes: {
      creates: ({ upstream, client, us }: Causes) =>
        `Refused in ten minutes: ${figure(upstream)} by upstreams, ${figure(client)} by clients, ${figure(us)} by us`,
      ends: ({ upstream, client, us }: Causes) =>
        `Failed in ten minutes: ${figure(upstream)} by upstreams, ${figure(client)} by clients, ${figure(us)} by operators`,
    } as Partial<Readonly<Record<LightName, (causes: Causes) => string>>>,
    unserved: {
      label: 'Models without a channel',
      more: (count: number) => ` and ${figure(count)} more`,
      at: (endpoints: readonly string[]) => ` (${endpoints.join(', ')})`,
    },
    tasksAway: 'The tasks service does not answer, so its figures are missing.',
    tasksAnswered: 'It answered last at',
    tasksNever: 'It has not answered since this gateway started.',
    unknown: 'not known',
    unfinished: 'Unfinished tasks',
    services: 'Services',
    reachable: 'reachable',
    unreachable: 'not reachable',
  },
  channels: {
    title: 'Channels',
    needed: 'test, pause and resume channels',
    intro: 'A paused channel gets no new work. What it has goes on.',
    empty: 'The configuration has no channels.',
    standings: {
      in_use: 'In use',
      being_tried: 'Being tried',
      left_alone: 'Left alone',
      paused: 'Paused',
      disabled: 'Disabled',
    },
    circuit: 'Circuit',
    circuits: { closed: 'closed', half_open: 'half open', open: 'open' },
    circuitWhy: {
      half_open: 'The circuit is half open: a few orders try the upstream.',
      open: 'The circuit is open: the upstream failed too often, and is left alone for a while.',
    },
    pausedBy: 'Paused by',
    disabledWhy: 'The configuration disables it.',
    relay: 'Synchronous calls; the figures are of this gateway alone.',
    inFlight: 'In flight',
    inFlightOf: (used: number, most: number) => `${used} of ${most}`,
    unlimited: (used: number) => `${used}, no limit`,
    answers: 'Time to answer',
    answerTimes: (p50: string, p95: string) => `half within ${p50}, 95 % within ${p95}`,
    noAnswers: 'no answers in the last hour',
    outcomes: 'Last hour',
    quietHour: 'nothing happened',
    attempts: 'Attempts',
    perMinuteNow: 'By the minute',
    attemptsCounted: 'attempts',
    accepted: 'accepted',
    refused: 'refused',
    unknown: 'outcome unknown',
    completed: 'completed',
    failed: 'failed',
    failedPolls: 'failed polls',
    ends: 'Ends',
    lastError: 'Last error',
    noError: 'none in the last hour',
    more: 'Settings',
    adapter: 'Adapter',
    upstreamAccount: 'Upstream account',
    perMinute: 'Creates a minute',
    priority: 'Priority',
    weight: 'Weight',
    models: 'Models',
    endpoints: 'Endpoints',
    test: 'Test',
    testing: 'Testing',
    testHint: 'A call to the upstream that costs nothing.',
    tested: (took: string) => `The upstream answered in ${took}`,
    testFailed: (took: string) => `The test failed after ${took}`,
    pause: 'Pause',
    resume: 'Resume',
    pauseTitle: (id: string) => `Pause ${id}`,
    resumeTitle: (id: string) => `Resume ${id}`,
    pauseText: (inFlight: number) =>
      inFlight === 0
        ? 'The channel gets no new work until then, also after restarts. No task is in flight on it.'
        : `The channel gets no new work until then, also after restarts. ` +
          `Tasks in flight on it: ${inFlight}. They go on.`,
    pauseOnly: (models: string) => `No other channel in use serves ${models}: new orders for it will be refused.`,
    resumeText: 'The channel gets new work again at once.',
    didPause: (id: string) => `${id} is paused.`,
    didResume: (id: string) => `${id} is resumed.`,
  },
} as const;

function figure(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
