/** The upper bounds of a call's use according to its request. A missing quantity is unknown. */
export interface PriceFacts {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly images?: number;
  readonly characters?: number;
  /** Searches of the web, or units of a rerank. */
  readonly searches?: number;
}

/** The usage of a call. An absent quantity is unknown. */
export interface Usage {
  readonly inputTokens?: number;
  /** The part of the input that the upstream had in its cache. */
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  readonly seconds?: number;
  readonly images?: number;
  readonly characters?: number;
  /** Searches of the web, or units of a rerank. */
  readonly searches?: number;
  /** The part of the input that was written to the cache, whatever its lifetime there. */
  readonly cacheWriteTokens?: number;
  /** The part of it that is kept for an hour. */
  readonly cacheWrite1hTokens?: number;
  /** The part of the input that is sound, with its cached part. */
  readonly audioInputTokens?: number;
  readonly cachedAudioTokens?: number;
  /** The part of the input that is pictures, with its cached part. */
  readonly imageInputTokens?: number;
  readonly cachedImageTokens?: number;
  /** The part of the output that no client sees. */
  readonly reasoningTokens?: number;
  readonly audioOutputTokens?: number;
  readonly imageOutputTokens?: number;
}
