import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { whenReachable } from '@reelgate/platform/lifecycle/when-reachable';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import { PROBE_EVERY_MS, newProber } from '@reelgate/platform/limits/probe-suspects';
import { newCircuitWatch } from '@reelgate/platform/limits/watch-circuits';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { announcePause, onCallsGiven, onPausesChanged, onWaitAsked } from '../events/announcements.ts';
import { onServiceEvent } from '../events/on-service-event.ts';
import { renewPauses } from '../operations/operators/pause-channel.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import type { FaultCounter } from '../operations/activity/fault-counter.ts';
import type { MinuteCounter } from '../operations/activity/minute-counter.ts';
import { removeOldCounts } from '../operations/retention/remove-old-records.ts';
import { watchPauses } from '../monitoring/tasks-metrics.ts';

/** If an announcement is lost, a pause is taken up within this time. */
const PAUSES_IDLE_MS = 5000;
const WRITE_IDLE_MS = 10_000;
const MINUTE_MS = 60_000;
const REMOVE_IDLE_MS = 60_000;

export type OperatorParts = Omit<OperatorDeps, 'clock' | 'log' | 'announcePause'>;

/**
 * Starts the workers for operators. The pauses of channels are known before this resolves, and taken up later within
 * seconds; the counts of this process are written every ten seconds and once at the stop. The limits of the channels
 * know before this resolves the calls of all processes in the last minute.
 */
export async function startOperators(
  { clock, log, bus, metrics }: Foundation,
  parts: OperatorParts,
  { minutes, faults }: { readonly minutes: MinuteCounter; readonly faults: FaultCounter },
  lifecycle: Lifecycle,
): Promise<OperatorDeps> {
  const { paused, waits, operators } = parts;
  const deps = { ...parts, clock, log, announcePause: announcePause(bus) };
  const readBefore = () =>
    Promise.all([parts.backlog.submissionsAfter(clock.now() - MINUTE_MS), paused.read(), waits.read()]);
  const [submissions] = await whenReachable(readBefore, {
    clock,
    log,
    dependency: 'the pauses of channels',
    isAway: (error) => error instanceof StoreUnavailable,
  });
  for (const [channel, times] of submissions) parts.channels.find(channel)?.creates.learnTakes(times);
  const start = (name: string, idleMs: number, pass: (stopping: AbortSignal) => Promise<number>) => {
    const worker = startWorker({ name, clock, log, idleMs, pass });
    lifecycle.add(name, () => worker.stop());
    return worker;
  };
  // Parts stop in the reverse order, so this comes after the last pass.
  lifecycle.add('last counts of minutes', () => minutes.write());
  lifecycle.add('last faults', () => faults.write());
  start('counts of minutes', WRITE_IDLE_MS, () => minutes.write().then(() => 0));
  start('faults', WRITE_IDLE_MS, () => faults.write().then(() => 0));
  start('removal of old counts', REMOVE_IDLE_MS, () => removeOldCounts(operators, clock));
  const reads = start('pauses of channels', PAUSES_IDLE_MS, () => renewPauses(deps).then(() => 0));
  start('waits of channels', PAUSES_IDLE_MS, () => waits.read().then(() => 0));
  const circuits = newCircuitWatch(
    () => parts.channels.all().map(({ channel, circuit }) => ({ id: channel.settings.id, circuit })),
    (changes) => operators.addServiceEvents(changes),
    clock,
  );
  start('circuits of channels', PAUSES_IDLE_MS, () => circuits.pass().then(() => 0));
  const prober = newProber();
  start('probes of channels', PROBE_EVERY_MS, async (stopping) => {
    const probed = parts.channels.all().map(({ channel, circuit }) => ({
      of: channel,
      circuit,
      probe: (signal: AbortSignal) => channel.probe(signal),
    }));
    await prober.pass(probed, stopping);
    return 0;
  });
  const changes = await onPausesChanged(bus, () => reads.wake());
  lifecycle.add('changes of pauses', () => changes.stop());
  const asked = await onWaitAsked(bus, (wait) => waits.receive(wait));
  lifecycle.add('waits of upstreams', () => asked.stop());
  const given = await onCallsGiven(bus, (calls) => {
    operators
      .noteCalls(calls)
      .catch((error: unknown) =>
        log.warn({ channel: calls.channel, err: error }, 'the calls of a channel could not be written'),
      );
  });
  lifecycle.add('calls of gateways', () => given.stop());
  const events = await onServiceEvent(bus, operators);
  lifecycle.add('events of other services', () => events.stop());
  watchPauses(metrics, parts.channelIds, paused);
  return deps;
}
