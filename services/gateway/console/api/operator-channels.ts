import type { ChannelPause as PauseMessage, ChannelPauseJson } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelStatus, ChannelStatusJson } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelHour as HourMessage, ChannelHourJson } from '@reelgate/proto/tasks/v1/activity';
import type { WholeJson, RpcAnswer } from './calls.ts';

/** A channel with its last hour. */
export interface ChannelRow {
  readonly channel: WholeJson<ChannelStatus, ChannelStatusJson>;
  /** True if the channel serves synchronous calls. Its figures then count only the calls of this gateway. */
  readonly isRelay: boolean;
  /** Undefined if the channel did no work in the last hour. */
  readonly hour?: ChannelHour;
}

export type ChannelHour = WholeJson<HourMessage, ChannelHourJson>;
export type ChannelPause = WholeJson<PauseMessage, ChannelPauseJson>;

/** GET /channels. */
export interface ChannelList {
  readonly channels: readonly ChannelRow[];
  readonly canOperate: boolean;
  readonly now: number;
}

/** POST /channels/{id}/pause {reason, forSeconds?}: the pause, which may be an earlier one. */
export interface PauseAnswer {
  readonly pause?: ChannelPause;
}
// POST /channels/{id}/resume {reason}: answers {}.

/** POST /channels/{id}/test. */
export interface ChannelTest {
  readonly ok: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

/** GET /channels/{id}. A part that is undefined could not be read now. */
export interface ChannelView {
  readonly row: ChannelRow;
  /** The models that no other channel in use serves. */
  readonly onlyFor: readonly string[];
  /** Of the last day. */
  readonly margins?: RpcAnswer<'billing.AccountService/GetMoney'>['margins'];
  /** The prices of its models now. */
  readonly contracts?: RpcAnswer<'billing.AccountService/ListPrices'>['contracts'];
  readonly canOperate: boolean;
  readonly now: number;
}
