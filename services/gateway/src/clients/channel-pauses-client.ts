import type { Client } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { fromWirePause } from './channels-client.ts';
import type { ChannelPause } from './channels-client.ts';

/** A start waits no longer for it. */
const DEADLINE_MS = 2000;

export type { ChannelPause } from './channels-client.ts';
export type PausesClient = Client<typeof OperatorService>;
export type ReadChannelPauses = () => Promise<readonly ChannelPause[]>;

/** Reads the paused channels, under the identity of the gateway. */
export function channelPausesReader(client: PausesClient): ReadChannelPauses {
  return async () => (await client.listChannelPauses({}, { timeoutMs: DEADLINE_MS })).pauses.map(fromWirePause);
}
