/*
 * The contract of adapters, version 1. An adapter speaks the API of one upstream. It turns values into requests and
 * answers into reports, and the service makes the calls: an adapter has no network, no files, no clock, no environment
 * and no key of its own. README.md explains it with an example.
 */

export type Json = Readonly<Record<string, unknown>>;
export type Endpoint = 'video.generation' | 'video.regeneration' | 'video.context_ir';
export type Kind = 'generation' | 'regeneration' | 'context_ir';
export type MediaKind = 'image' | 'video' | 'audio';
export type Role =
  'first_frame' | 'last_frame' | 'reference_image' | 'reference_video' | 'reference_audio' | 'base_video';

export interface AttemptMedia {
  readonly media: MediaKind;
  readonly role: Role | undefined;
  /** An https URL, or a data URL if the channel has `references: inline`. */
  readonly url: string;
}

export type AttemptItem = { readonly text: string } | AttemptMedia;

/** A value that a client sent in a field that only the upstream knows. It has no inner structure. */
export type ExtraValue = string | number | boolean;

/** The parts of an order on which its extra fields can depend. The addresses of the media are not known yet. */
export interface ExtraQuestion {
  readonly kind: Kind;
  /** The model id of the upstream. */
  readonly model: string;
  readonly content: readonly AttemptItem[];
}

/** One try of an order on a channel. */
export interface Attempt extends ExtraQuestion {
  /**
   * The id of the attempt, chosen before it is sent: up to 72 letters, digits, `-` and `_`. No other attempt ever has
   * it. An upstream that accepts an id of its caller gets this id.
   */
  readonly key: string;
  /** Whole seconds. */
  readonly duration?: number | undefined;
  /** As in the configuration of the model, for example `768P`. */
  readonly resolution?: string | undefined;
  /** Width to height, such as `16:9`, or `adaptive`. */
  readonly ratio?: string | undefined;
  readonly aigcWatermark?: boolean | undefined;
  /** The upstream id of the source, for a regeneration by source task. */
  readonly sourceUpstreamId?: string | undefined;
  /** Our URL for callbacks of this attempt, if the channel calls back and the client sent no URL of its own. */
  readonly callbackUrl?: string | undefined;
  /** The URL that the client wants to be called. */
  readonly clientCallbackUrl?: string | undefined;
  /** The checked values of the extra fields that the adapter declares. */
  readonly extra?: Readonly<Record<string, ExtraValue>> | undefined;
}

/** A part of a multipart form: a text, or a file as Base64. */
export type FormPart =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly fileName: string; readonly type: string; readonly base64: string };

/** A call of the upstream. The service adds the address, the key and the deadline. */
export interface UpstreamRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Begins with `/` and follows `base_url`. It has the query; values from elsewhere are encoded. */
  readonly path: string;
  /** A name of `Adapter.hosts`. The default is the host of `base_url`. */
  readonly host?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body, as JSON or as a form. A member of the JSON that is undefined is left out. */
  readonly json?: object | undefined;
  readonly form?: readonly FormPart[] | undefined;
}

/** A whole answer of the upstream. A call without one never reaches the adapter. */
export interface UpstreamAnswer {
  readonly status: number;
  /**
   * Undefined if the answer is not JSON. A whole number above 2^53 is the text of its digits. Each text of more than 64
   * KiB, counted as it is written, is replaced by `CUT_TEXT` of the kit, so bytes inside an answer are never in memory.
   * An answer is dropped if more than 4 MiB of it remain, or if it has more than 512 MiB.
   */
  readonly body: unknown;
  /** The headers that `Adapter.answerHeaders` names, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
}

/**
 * The steps of an operation: a generator that yields requests, gets the answer of each, and returns the result. It is
 * given up at the first call without a whole answer, and after `STEPS_MAX` requests.
 */
export type Steps<Result> = Generator<UpstreamRequest, Result, UpstreamAnswer>;

/**
 * The class of a refusal.
 * - `order`, `content`: the upstream refused the order or its content; no other channel is tried
 * - `unfit`: this adapter or upstream model cannot express the order; nothing was sent
 * - `throttle`: the upstream is busy or limits its callers
 * - `credential`: the upstream refuses the key, its rights or its balance; an operator must act
 * - `channel`: any other fault of the upstream
 *
 * After `unfit`, `throttle`, `credential` and `channel` another channel is tried.
 */
export type Fault = 'order' | 'content' | 'unfit' | 'throttle' | 'credential' | 'channel';

/** The outcome of a submission. `unknown`: the upstream may have accepted the order, so it is not sent again. */
export type Submission =
  | { readonly outcome: 'accepted'; readonly upstreamId: string }
  | {
      readonly outcome: 'refused';
      readonly fault: Fault;
      readonly error: string;
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly outcome: 'unknown'; readonly error: string };

/** The measures of finished work. */
export interface Usage {
  readonly totalSeconds?: number | undefined;
  readonly inputSeconds?: number | undefined;
  readonly outputSeconds?: number | undefined;
  readonly inputImageCount?: number | undefined;
  readonly inputAudioSeconds?: number | undefined;
  readonly totalTokens?: number | undefined;
  readonly promptTokens?: number | undefined;
  readonly completionTokens?: number | undefined;
}

/**
 * The failure of work, in the words of the upstream, as operators read it. For a client the service replaces the code
 * by a code of its own, and removes the names of the vendor, its machines and its records from the message.
 */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/**
 * The report of an upstream about its work. A success without `url`, and without `prompt` for a context IR, counts as
 * unfinished. `status` is the word of the upstream.
 */
export type Report =
  | { readonly phase: 'queued' | 'running'; readonly status: string; readonly progress?: number | undefined }
  | {
      readonly phase: 'succeeded';
      readonly status: string;
      /** The address of the video. One that begins with `/` follows `base_url`. Of several outputs it is the first. */
      readonly url?: string | undefined;
      /** True if the address needs the key of the channel. Only the host of `base_url` ever gets it. */
      readonly needsKey?: boolean | undefined;
      /**
       * The JSON pointer (RFC 6901) of the Base64 text in the JSON at `url` that holds the video, if the video is inside
       * an answer. For a video inside the answer to a poll, `url` is the path of that poll, with `needsKey`: the answer is
       * fetched once more, and its bytes go from there to the store.
       */
      readonly base64At?: string | undefined;
      /** The whole address of the picture of the last frame, if the order asked for it. It is fetched without a key. */
      readonly lastFrameUrl?: string | undefined;
      /** The time in milliseconds since 1970 after which the addresses are dead, if the upstream says it. */
      readonly urlDiesAt?: number | undefined;
      readonly prompt?: string | undefined;
      readonly usage?: Usage | undefined;
      /** The charge of the upstream in millionths of a US dollar, if it says it. */
      readonly costMicroUsd?: number | undefined;
      /** Milliseconds since 1970, by the clock of the upstream. */
      readonly endedAt?: number | undefined;
    }
  | {
      readonly phase: 'failed';
      readonly status: string;
      readonly failure: Failure;
      readonly costMicroUsd?: number | undefined;
      readonly endedAt?: number | undefined;
    }
  | { readonly phase: 'unrecognised'; readonly status: string };

/** The outcome of a poll: a report, no such work (`gone`), or an error that leaves the state of the work unknown. */
export type PollResult =
  | { readonly found: true; readonly report: Report }
  | { readonly found: false; readonly gone: boolean; readonly error: string };

/**
 * The outcome of a search for an attempt by its key. `never arrived` is only said if the upstream would know the
 * attempt by now.
 */
export type FindOutcome =
  | { readonly outcome: 'accepted'; readonly upstreamId: string }
  | { readonly outcome: 'never arrived' }
  | { readonly outcome: 'cannot know'; readonly why: string };

/** An attempt that got no answer. */
export interface LostAttempt {
  readonly key: string;
  readonly model: string;
  /** Our URL for callbacks of the attempt, if it was sent. */
  readonly callbackUrl?: string | undefined;
  /** The checked values of its extra fields. */
  readonly extra?: Readonly<Record<string, ExtraValue>> | undefined;
  /** Milliseconds since 1970: before the attempt was sent, and after its answer was given up. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Upstream work in a list. */
export interface ListedWork {
  readonly upstreamId: string;
  readonly kind?: Kind | undefined;
  readonly model: string;
  readonly duration?: number | undefined;
  readonly resolution?: string | undefined;
  readonly ratio?: string | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** The header that holds the key of the channel. With a scheme its value is `<scheme> <key>`, otherwise the bare key. */
export interface Credential {
  readonly header: string;
  readonly scheme?: string | undefined;
}

/** The signature of an upstream's callbacks. The service checks it with `callback_secret` of the channel. */
export type CallbackSignature =
  /** https://www.standardwebhooks.com: `webhook-id`, `webhook-timestamp`, `webhook-signature: v1,<base64>`. */
  | { readonly form: 'standard-webhooks' }
  /** A header `t=<seconds>,v1=<hex>`; HMAC-SHA256 of the time, `joiner` and the body. */
  | { readonly form: 'timestamped-hmac'; readonly header: string; readonly joiner: string }
  /** ED25519 over the values of `signedHeaders` and the hex SHA-256 of the body, one a line; keys as a JWK set. */
  | {
      readonly form: 'ed25519';
      readonly header: string;
      readonly signedHeaders: readonly string[];
      readonly timeHeader: string;
      /** The address of the key set. */
      readonly keys: string;
    };

export interface Callbacks {
  readonly signature?: CallbackSignature | undefined;
  /**
   * Reads the upstream id from the body of a callback, undefined if it has no id. `model` is the upstream model of the
   * attempt, for an upstream with ids that hold a part of it.
   */
  readonly readId: (body: Json, model?: string) => string | undefined;
}

/** An extra field with the limits of its values. */
export type ExtraField = ExtraRules &
  (
    | { readonly type: 'whole' | 'number'; readonly least: number; readonly most: number }
    | ({ readonly type: 'flag' } & PricedRules)
    | ({ readonly type: 'word'; readonly words: readonly string[] } & PricedRules)
    | { readonly type: 'text'; readonly charactersMax: number }
  );

export interface ExtraRules {
  /**
   * True if an operator must allow it: only a channel that names it under `extra_fields` accepts it. Set it for a field
   * that costs more, takes longer, or turns off a check of the upstream.
   */
  readonly isForOperators?: boolean | undefined;
}

export interface PricedRules {
  /** True if each of its values can have a price of its own, under `<model>__<field>_<value>`. */
  readonly isPriced?: boolean | undefined;
}

export type ExtraFields = Readonly<Record<string, ExtraField>>;

/** The operations of one channel. Each is pure: it depends on its arguments and the answers alone. */
export interface Calls {
  /**
   * Lists the declared extra fields that the upstream takes for an order. An order with another one does not come here.
   * By default, it takes all that are declared. Only a built-in adapter has this operation.
   */
  readonly listExtra?: ((order: ExtraQuestion) => readonly string[]) | undefined;
  /** Returns the one request of a submission, or the reason why the upstream cannot express the order. */
  readonly buildSubmit: (attempt: Attempt) => UpstreamRequest | { readonly unfit: string };
  readonly readSubmit: (answer: UpstreamAnswer, attempt: Attempt) => Submission;
  readonly poll: (upstreamId: string) => Steps<PollResult>;
  /**
   * Polls several works at once. Leave it out if the upstream reads one work at a time. A work that the result leaves
   * out does not exist, so after an unreadable answer each work has a result with `gone: false`.
   */
  readonly pollMany?: ((upstreamIds: readonly string[]) => Steps<Readonly<Record<string, PollResult>>>) | undefined;
  /** Searches for an attempt by its key. Leave it out if the upstream has no such search. */
  readonly find?: ((lost: LostAttempt) => Steps<FindOutcome>) | undefined;
  /**
   * Lists work since a time, newest first. Returns undefined if the list cannot be read. Leave it out if the upstream
   * has no list.
   */
  readonly list?: ((since: number) => Steps<readonly ListedWork[] | undefined>) | undefined;
  /**
   * Returns whether the upstream confirmed that it will not do the work. Leave it out if the upstream has no cancel.
   */
  readonly cancel?: ((upstreamId: string) => Steps<boolean>) | undefined;
  /** Sends a free call, to check the address and the key. */
  readonly test: () => Steps<{ readonly ok: boolean; readonly detail: string }>;
}

/** The facts of a channel that its operations may depend on. */
export interface ChannelFacts {
  /** `options` of the channel in the configuration, checked against `Adapter.options`. */
  readonly options: Json;
}

/** One upstream API. */
export interface Adapter {
  readonly kit: 1;
  /** The endpoints that the upstream serves. A channel may be configured for no others. */
  readonly endpoints: readonly Endpoint[];
  readonly credential: Credential;
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Further hosts, by name, each as an address. `hosts` of a channel replaces them. They get the key too. */
  readonly hosts?: Readonly<Record<string, string>> | undefined;
  /** The headers of answers that the operations read. */
  readonly answerHeaders?: readonly string[] | undefined;
  /**
   * The fields of a create that this service does not know and the upstream does. By default there are no such fields.
   */
  readonly extraFields?: ExtraFields | undefined;
  /**
   * The calls of the upstream at a URL of this service when its work changes. Leave it out if the upstream has no
   * callbacks.
   */
  readonly callbacks?: Callbacks | undefined;
  /** The most works that `pollMany` gets at once. */
  readonly pollManyMax?: number | undefined;
  /**
   * The time in milliseconds after which the upstream knows each attempt that it accepted. Before that, a search that
   * does not find an attempt proves no absence.
   */
  readonly visibleAfterMs?: number | undefined;
  /** Polls of a channel in a minute that the upstream documents, the default of `polls_per_minute`. */
  readonly pollsPerMinute?: number | undefined;
  /** The JSON Schema of `options` of a channel. Without it, a channel cannot have options. */
  readonly options?: Json | undefined;
  readonly openCalls: (facts: ChannelFacts) => Calls;
}
