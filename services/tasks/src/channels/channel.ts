import type { Clock } from '@reelgate/platform/clock';
import type { Kind, MediaKind, Order, Role } from '../domain/order.ts';
import type { Report } from '../domain/report.ts';
import type { ExtraValue } from './extra-fields.ts';

export type Endpoint = 'video.generation' | 'video.regeneration' | 'video.context_ir';

/** A channel as the configuration describes it. */
export interface ChannelSettings {
  readonly id: string;
  readonly adapter: string;
  readonly baseUrl: string;
  readonly apiKey: { reveal(): string };
  readonly upstreamAccount: string;
  readonly endpoints: readonly Endpoint[];
  /** Public model id to upstream model id. */
  readonly models: Readonly<Record<string, string>>;
  /** Higher goes first. */
  readonly priority: number;
  /** Share among equals. */
  readonly weight: number;
  readonly enabled: boolean;
  readonly requestsPerMinute: number;
  readonly inFlightMax: number;
  readonly pollsPerMinute: number;
  readonly submitTimeoutMs: number;
  readonly pollTimeoutMs: number;
  readonly reconcile: 'list' | 'none';
  /** How media reach the upstream: inside the request, or as signed links to us. */
  readonly references: 'inline' | 'url';
  /** Whether the upstream is given an address of ours to call when work moves on. */
  readonly callbacks: boolean;
  /** How the source of a regeneration is named: as the upstream's own task, or as a video with its prompt and references. */
  readonly regeneration: 'task' | 'video';
}

/** A medium in the form that the channel reads. */
export interface AttemptMedia {
  readonly media: MediaKind;
  readonly role: Role | undefined;
  readonly url: string;
}

export type AttemptItem = { readonly text: string } | AttemptMedia;

/** One try of one order on one channel, computed afresh from the frozen order. */
export interface Attempt {
  readonly kind: Kind;
  /** The upstream's model id. */
  readonly model: string;
  readonly order: Order;
  readonly content: readonly AttemptItem[];
  /** The upstream's id of the source, on regeneration by a source task. */
  readonly sourceUpstreamId?: string | undefined;
  /** Our own address for this attempt, where the channel is to call back and the client named none. */
  readonly callbackUrl?: string | undefined;
  /** The client's fields that this service does not know and the adapter has declared, checked. */
  readonly extra?: Readonly<Record<string, ExtraValue>> | undefined;
}

/**
 * How a submission ended. `fault` says whose it is: the channel's (another may take the order), a throttle (likewise), or the order's,
 * by its content or as a whole (no other channel is asked); `unfit` is nobody's: this adapter or model has no words for the order, nothing was
 * sent, and another may. `unknown`: the upstream may have taken it; it is never submitted again.
 */
export type Submission =
  | { readonly outcome: 'accepted'; readonly upstreamId: string }
  | {
      readonly outcome: 'refused';
      readonly fault: 'channel' | 'throttle' | 'content' | 'order' | 'unfit';
      readonly error: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly outcome: 'unknown'; readonly error: string };

/** What a look gives: a report, no such work upstream, or an error that says nothing of the work. */
export type PollResult =
  | { readonly found: true; readonly report: Report }
  | { readonly found: false; readonly gone: boolean; readonly error: string };

/** Upstream work as a list shows it, in our words. */
export interface ListedWork {
  readonly upstreamId: string;
  readonly kind: Kind | undefined;
  readonly model: string;
  readonly duration: number | undefined;
  readonly resolution: string | undefined;
  readonly ratio: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** One upstream. It says what it takes, takes it, and says how it goes; it never waits, never retries, and throws nothing. */
export interface Channel {
  readonly settings: ChannelSettings;
  submit(attempt: Attempt, signal: AbortSignal): Promise<Submission>;
  poll(upstreamId: string, signal: AbortSignal): Promise<PollResult>;
  /** Recent work, newest first; undefined where the upstream has no list or it cannot be read now. */
  list(since: number, signal: AbortSignal): Promise<readonly ListedWork[] | undefined>;
  /** Whether the upstream confirmed that it will not do the work. */
  cancel(upstreamId: string, signal: AbortSignal): Promise<boolean>;
  /** Asks for something that costs nothing. */
  test(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
  close(): Promise<void>;
}

/** The clock is that of its deadlines. */
export type ChannelFactory = (settings: ChannelSettings, clock: Clock) => Channel;

export const ENDPOINT_OF: Readonly<Record<Kind, Endpoint>> = {
  generation: 'video.generation',
  regeneration: 'video.regeneration',
  context_ir: 'video.context_ir',
};
