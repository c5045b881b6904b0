import type {
  Attempt,
  Endpoint,
  ExtraQuestion,
  FindOutcome,
  Kind,
  ListedWork,
  LostAttempt as LostOne,
  Submission as Outcome,
} from '@reelgate/adapter-kit';
import type { Clock } from '@reelgate/platform/clock';
import type { CallKind } from '@reelgate/platform/limits/asked-waits';
import type { ProbeVerdict } from '@reelgate/platform/limits/probe-suspects';
import type { Report } from '../domain/report.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import type { ExtraFault } from './extra-fields.ts';

export type { AttemptItem, Endpoint, FindOutcome, ListedWork } from '@reelgate/adapter-kit';

/** The configuration of a channel. */
export interface ChannelSettings {
  readonly id: string;
  /** The name of the adapter. */
  readonly adapter: string;
  /** The operator's adapter of that name, with the SHA-256 of its text. Absent for a built-in adapter. */
  readonly ownAdapter?: { readonly adapter: ChannelAdapter; readonly sha256: string } | undefined;
  readonly baseUrl: string;
  /** Addresses in place of the further hosts of the adapter, by their names. */
  readonly hosts: Readonly<Record<string, string>>;
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
  /** The secret with which the upstream signs its callbacks. Without it, only their URL protects them. */
  readonly callbackSecret?: { reveal(): string } | undefined;
  /** The source of a regeneration as the upstream gets it: its own task, or a video with prompt and references. */
  readonly regeneration: 'task' | 'video';
  /** The declared extra fields that reach the upstream; all of them by default. */
  readonly extraFields?: readonly string[] | undefined;
  /** The settings that only the adapter has. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An attempt as it is computed from the frozen order. The adapter of the channel reads its extra fields. */
export interface PlannedAttempt extends Omit<Attempt, 'extra'> {
  /** The fields of the create that this service does not know, as a JSON object. */
  readonly extraJson?: string | undefined;
}

/** An attempt that got no answer. The adapter of the channel reads its extra fields. */
export interface LostAttempt extends Omit<LostOne, 'extra'> {
  readonly extraJson?: string | undefined;
}

/** An order as far as the extra fields that an upstream takes depend on it, and its own. */
export interface ExtraOrder extends ExtraQuestion {
  readonly extraJson?: string | undefined;
}

/**
 * The outcome of a submission. `status` is the HTTP status of the answer, if one came; `isUnreachable`: no connection
 * could be opened.
 */
export type Submission = Outcome & { readonly status?: number | undefined; readonly isUnreachable?: boolean };

/** The outcome of a poll: a report, no such work (`gone`), or an error that leaves the state of the work unknown. */
export type PollResult =
  | { readonly found: true; readonly report: Report }
  | { readonly found: false; readonly gone: boolean; readonly error: string };

/** The call of an upstream at the URL of an attempt. */
export interface UpstreamCallback {
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The id of the work as the gateway reads it, absent or empty if there is no id. */
  readonly upstreamId?: string | undefined;
}

export type CallbackVerdict = 'right' | 'wrong' | 'unsigned' | 'unchecked';

/**
 * The facts of a callback. `unsigned`: the upstream does not sign, or the channel has no secret for it, so that only the
 * URL protects it. `unchecked`: the public keys of the upstream cannot be read now. `upstreamId` is the id of the work
 * that it names.
 */
export interface CallbackReading {
  readonly signature: CallbackVerdict;
  readonly upstreamId: string | undefined;
}

/**
 * A connection to one upstream. It submits orders and polls their work. It never waits, never retries and never throws.
 */
export interface Channel {
  readonly settings: ChannelSettings;
  /** Lists the extra fields of an order that would not reach the upstream. An attempt with such a field is refused. */
  findExtraFaults(order: ExtraOrder): readonly ExtraFault[];
  /** Lists the values of extra fields that can have a price of their own, each as `<field>_<value>`. */
  listChoices(order: ExtraOrder): readonly string[];
  submit(attempt: PlannedAttempt, signal: AbortSignal): Promise<Submission>;
  poll(upstreamId: string, signal: AbortSignal): Promise<PollResult>;
  /** The most works that one call of `pollMany` reads; 1 if the upstream reads one at a time. */
  readonly pollManyMax: number;
  /** Polls up to `pollManyMax` works with one call. Each gets a result. */
  pollMany(upstreamIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PollResult>>;
  /** Reports whether the upstream can be asked for an attempt by its key. */
  readonly canFind: boolean;
  /** The time in milliseconds after which a search settles every attempt; Infinity if it may never. */
  readonly findSettlesAfterMs: number;
  /** Searches for an attempt that got no answer. */
  find(lost: LostAttempt, signal: AbortSignal): Promise<FindOutcome>;
  /** Reads the call of the upstream. `model` is its model of the attempt. */
  readCallback(callback: UpstreamCallback, model: string | undefined): Promise<CallbackReading>;
  /** Reports whether the upstream has a list. */
  readonly canList: boolean;
  /** Recent work, newest first; undefined if the upstream has no list or the list cannot be read now. */
  list(since: number, signal: AbortSignal): Promise<readonly ListedWork[] | undefined>;
  /** Returns whether the upstream confirmed that it will not do the work. */
  cancel(upstreamId: string, signal: AbortSignal): Promise<boolean>;
  /** Sends a free call, to check the address and the key. */
  test(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** Makes the same call for the circuit of the channel. */
  probe(signal: AbortSignal): Promise<ProbeVerdict>;
  close(): Promise<void>;
}

/** The upstream of a channel asks for no calls of these kinds for a while. */
export type AskToWait = (kinds: readonly CallKind[], ms: number) => void;

/** The clock measures the deadlines of the calls. `askToWait` is called with the waits that answers ask for. */
export type ChannelFactory = (settings: ChannelSettings, clock: Clock, askToWait?: AskToWait) => Channel;

export const ENDPOINT_OF: Readonly<Record<Kind, Endpoint>> = {
  generation: 'video.generation',
  regeneration: 'video.regeneration',
  context_ir: 'video.context_ir',
};
