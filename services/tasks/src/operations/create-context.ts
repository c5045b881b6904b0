import type { Span } from '@reelgate/platform/trace/trace';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import type { TokenMaker } from '../clients/tokens.ts';
import type { Order } from '../domain/order.ts';
import type { PriceFacts } from '../domain/price-facts.ts';
import type { BesideOrder, PriceBound, StagedMedia, Task } from '../domain/task.ts';
import type { TokenWait, WaitPlan, WaitPreference } from '../domain/wait-plan.ts';
import type { NewTask } from '../store/task-store.ts';

/** The account that places an order, and the models that it may use. */
export interface OrderCaller {
  readonly accountId: string;
  readonly visibleModels: readonly string[];
}

/** The key of a create, with a digest of the request. */
export interface CreateKey {
  readonly key: string;
  readonly fingerprint: string;
  /** The default is a day. */
  readonly lifetimeMs?: number | undefined;
}

export interface CreateRequest extends OrderCaller {
  readonly tokenId: string;
  readonly order: Order;
  readonly beside: BesideOrder;
  /** The id of the request, for log lines. */
  readonly requestId?: string | undefined;
  readonly idempotency?: CreateKey | undefined;
  /** Its wish for a wait, if no channel takes it. */
  readonly wait: WaitPreference;
  /** The bound of that wish. */
  readonly tokenWait: TokenWait;
  /** The most tasks that the token may have in flight. The default is the configured limit. */
  readonly inFlightLimit?: number | undefined;
  /** The makers of the token, the nearest first. The task counts against the limit of each. */
  readonly makers: readonly TokenMaker[];
  /** The span of the call. Absent if it is not recorded. */
  readonly span?: Span | undefined;
}

/** The things that an order names, and the facts that its price depends on. */
export interface ResolvedOrder {
  /** The source task of the order. */
  readonly source: Task | undefined;
  /** As it is frozen: without the optional fields that no channel takes. */
  readonly order: Order;
  /** The channels that may accept the order, in the order in which they are tried. */
  readonly runtimes: readonly ChannelRuntime[];
  /** Without the videos that are not probed yet. */
  readonly facts: PriceFacts;
}

/** The staged media of an order, and of its source if a channel needs them. */
export interface CreateMedia {
  /** By the index of the item in the content of the order. */
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly source: SourceMedia | undefined;
}

/** The references and the result of a source, staged for the task that renders it. */
export interface SourceMedia {
  /** By the index of the item in the content of the source. */
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly base: StagedMedia;
}

/** A create that has passed its checks: the state that its steps share. */
export interface CreateContext extends ResolvedOrder {
  readonly task: NewTask;
  /** Empty until they are staged. */
  readonly media: CreateMedia;
  /** Aborted if the caller leaves; undefined once the create goes on without its caller. */
  readonly signal: AbortSignal | undefined;
  readonly span: Span;
  readonly bound: PriceBound;
  /** Absent if it does not wait, because the queue is not enabled. */
  readonly wait: WaitPlan | undefined;
  /** The counters of its token and of all tasks. While it is certain to wait, its task does not take them. */
  readonly caps: NewTask['caps'];
}

export interface CreateResult {
  /** As it was when it was created. */
  readonly task: Task;
  readonly replayed: boolean;
  /** The part of its wish that was applied. */
  readonly applied: WaitPreference;
}
