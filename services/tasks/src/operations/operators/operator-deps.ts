import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore } from '../../store/backlog-store.ts';
import type { OperatorStore } from '../../store/operator-store.ts';
import type { PausedChannels } from './paused-channels.ts';

/** The dependencies of what only operators do. */
export interface OperatorDeps {
  readonly operators: OperatorStore;
  readonly backlog: BacklogStore;
  readonly channels: ChannelRegistry;
  readonly paused: PausedChannels;
  /** Every channel of the configuration, those of other services too. */
  readonly channelIds: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Tells all processes that a channel was paused or resumed. */
  readonly announcePause: (channelId: string) => void;
}
