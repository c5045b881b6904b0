import type { Clock } from '@reelgate/platform/clock';
import type { Kind, MediaKind, Order, Role } from '../domain/order.ts';
import type { Report } from '../domain/report.ts';
import type { ExtraValue } from './extra-fields.ts';

export type Endpoint = 'video.generation' | 'video.regeneration' | 'video.context_ir';

/** The configuration of a channel. */
export interface ChannelSettings {
  readonly id: string;
  readonly adapter: string;
  readonly baseUrl: string;
  readonly apiKey: { reveal(): string };
  readonly upstreamAccount: string;
  readonly endpoints: readonly Endpoint[];
  /** From public model ids to upstream model ids. */
  readonly models: Readonly<Record<string, string>>;
  /** A higher priority is tried first. */
  readonly priority: number;
  /** The share of orders among channels of equal priority. */
  readonly weight: number;
  readonly enabled: boolean;
  readonly requestsPerMinute: number;
  readonly inFlightMax: number;
  readonly pollsPerMinute: number;
  readonly submitTimeoutMs: number;
  readonly pollTimeoutMs: number;
  readonly reconcile: 'list' | 'none';
  /** The form in which media reach the upstream: inside the request, or as signed URLs of this service. */
  readonly references: 'inline' | 'url';
  /** True if the upstream gets a URL of this service to call when its work changes. */
  readonly callbacks: boolean;
  /** The source of a regeneration as the upstream gets it: its own task, or a video with prompt and references. */
  readonly regeneration: 'task' | 'video';
}

/** A media item as the channel reads it. */
export interface AttemptMedia {
  readonly media: MediaKind;
  readonly role: Role | undefined;
  readonly url: string;
}

export type AttemptItem = { readonly text: string } | AttemptMedia;

/** One try of an order on a channel, computed from the frozen order. */
export interface Attempt {
  readonly kind: Kind;
  /** The upstream model id. */
  readonly model: string;
  readonly order: Order;
  readonly content: readonly AttemptItem[];
  /** The upstream id of the source, for a regeneration by source task. */
  readonly sourceUpstreamId?: string | undefined;
  /** Our URL for callbacks of this attempt, if the channel calls back and the client sent no URL of its own. */
  readonly callbackUrl?: string | undefined;
  /** The checked values of the extra fields that the adapter declares. */
  readonly extra?: Readonly<Record<string, ExtraValue>> | undefined;
}

/**
 * The outcome of a submission. `unknown`: the upstream may have accepted the order, so it is never submitted again. The
 * `fault` of a refusal:
 * - `channel`, `throttle`: another channel may accept the order
 * - `content`, `order`: the upstream refused the content or the whole order, and no other channel is tried
 * - `unfit`: this adapter or upstream model cannot express the order; nothing was sent, and another
 *   channel may accept it
 *
 * `status` is the HTTP status of the answer, if one came.
 */
export type Submission = (
  | { readonly outcome: 'accepted'; readonly upstreamId: string }
  | {
      readonly outcome: 'refused';
      readonly fault: 'channel' | 'throttle' | 'content' | 'order' | 'unfit';
      readonly error: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly outcome: 'unknown'; readonly error: string }
) & { readonly status?: number | undefined };

/** The outcome of a poll: a report, no such work (`gone`), or an error that says nothing about the work. */
export type PollResult =
  | { readonly found: true; readonly report: Report }
  | { readonly found: false; readonly gone: boolean; readonly error: string };

/** Upstream work in a list, independent of the API. */
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

/**
 * A connection to one upstream. It submits orders and polls their work. It never waits, never retries and never throws.
 */
export interface Channel {
  readonly settings: ChannelSettings;
  submit(attempt: Attempt, signal: AbortSignal): Promise<Submission>;
  poll(upstreamId: string, signal: AbortSignal): Promise<PollResult>;
  /** Recent work, newest first; undefined if the upstream has no list or the list cannot be read now. */
  list(since: number, signal: AbortSignal): Promise<readonly ListedWork[] | undefined>;
  /** Returns whether the upstream confirmed that it will not do the work. */
  cancel(upstreamId: string, signal: AbortSignal): Promise<boolean>;
  /** Makes a call that costs nothing, to check the address and the key. */
  test(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
  close(): Promise<void>;
}

/** The clock measures the deadlines of the calls. */
export type ChannelFactory = (settings: ChannelSettings, clock: Clock) => Channel;

export const ENDPOINT_OF: Readonly<Record<Kind, Endpoint>> = {
  generation: 'video.generation',
  regeneration: 'video.regeneration',
  context_ir: 'video.context_ir',
};
