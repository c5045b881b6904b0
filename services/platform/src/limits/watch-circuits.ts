import type { Clock } from '@reelgate/platform/clock';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { HandOverStore } from '../../store/operator-store.ts';

export interface CircuitWatch {
  /** Writes which circuits have opened or closed since the last pass. */
  pass(): Promise<void>;
}

/**
 * Notices circuits that open and close. An open one stays open for half a minute or until a call works, so passes every
 * few seconds miss only those that a call closed at once.
 */
export function openCircuitWatch(
  channels: Pick<ChannelRegistry, 'all'>,
  store: Pick<HandOverStore, 'addHappenings'>,
  clock: Clock,
): CircuitWatch {
  let open: ReadonlySet<string> = new Set();
  return {
    pass: async () => {
      const at = clock.now();
      const now = new Set(
        channels.all().flatMap(({ channel, circuit }) => (circuit.state() === 'closed' ? [] : [channel.settings.id])),
      );
      const opened = [...now.difference(open)].map((subject) => ({ at, type: 'circuit_opened' as const, subject }));
      const closed = [...open.difference(now)].map((subject) => ({ at, type: 'circuit_closed' as const, subject }));
      if (opened.length + closed.length > 0) await store.addHappenings([...opened, ...closed]);
      open = now;
    },
  };
}
