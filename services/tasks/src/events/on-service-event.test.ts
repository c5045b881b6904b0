import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { newLocalBus } from '@reelgate/platform/bus/local-bus';
import { publishConfigurationApplied, publishServiceEvents } from '@reelgate/platform/bus/publish-service-events';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import type { NewServiceEvent } from '../store/operator-store.ts';
import { onServiceEvent } from './on-service-event.ts';

const AT = Date.UTC(2026, 0, 1);

/** Returns what was written of what `publish` told. */
async function writtenAfter(
  publish: (bus: ReturnType<typeof newLocalBus>) => Promise<void>,
): Promise<NewServiceEvent[]> {
  const bus = newLocalBus(fakeClock(AT), silentLog);
  const written: NewServiceEvent[] = [];
  await onServiceEvent(bus, { addServiceEvents: async (events) => void written.push(...events) });
  await publish(bus);
  await bus.close();
  return written;
}

test('a circuit of a relay channel and a configuration of another service are written for the hand-over', async () => {
  const circuit = { at: AT + 5, type: 'circuit_opened', subject: 'chat-a' };
  const written = await writtenAfter(async (bus) => {
    await publishServiceEvents(bus, [circuit]);
    publishConfigurationApplied({ bus, clock: fakeClock(AT), log: silentLog }, 'billing');
  });

  expect(written).toEqual([circuit, { at: AT, type: 'configuration_applied', subject: 'billing' }]);
});

test('what two processes tell of the same minute is told once', async () => {
  const told = { type: 'circuit_opened', subject: 'chat-a' };
  const written = await writtenAfter(async (bus) => {
    await Promise.all([
      publishServiceEvents(bus, [{ at: AT, ...told }]),
      publishServiceEvents(bus, [{ at: AT + 9, ...told }]),
    ]);
    await publishServiceEvents(bus, [{ at: AT + 60_000, ...told }]);
  });

  expect(written.map(({ at }) => at)).toEqual([AT, AT + 60_000]);
});

test.each([
  ['no time', { type: 'circuit_opened', subject: 'chat-a' }],
  ['a type that is no word', { at: timestampFromMs(AT), type: 'a type', subject: 'chat-a' }],
  ['a subject with a zero byte', { at: timestampFromMs(AT), type: 'circuit_opened', subject: 'a\0b' }],
  ['a subject that is too long', { at: timestampFromMs(AT), type: 'circuit_opened', subject: 'x'.repeat(129) }],
])('an event with %s is dropped, so that it does not come again for ever', async (_what, event) => {
  expect(
    await writtenAfter((bus) => bus.publish(ServiceEventSchema, create(ServiceEventSchema, event), 'one')),
  ).toEqual([]);
});

test('an event that could not be written comes again', async () => {
  const clock = fakeClock(AT);
  const bus = newLocalBus(clock, silentLog);
  const written: NewServiceEvent[] = [];
  let isAway = true;
  await onServiceEvent(bus, {
    addServiceEvents: async (events) => {
      if (isAway) throw new Error('the database is away');
      written.push(...events);
    },
  });
  await publishServiceEvents(bus, [{ at: AT, type: 'circuit_opened', subject: 'chat-a' }]);
  isAway = false;
  for (let second = 0; second < 60 && written.length === 0; second += 1) await clock.advance(1000);

  expect(written).toHaveLength(1);
  await bus.close();
});
