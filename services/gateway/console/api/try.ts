/** GET /try. */
export interface TryView {
  readonly models: readonly TryModel[];
  /** The largest body of a create, in bytes. */
  readonly bodyBytesMax: number;
  readonly webhooks: boolean;
}

/** The values that a model takes, from the configuration. */
export interface TryModel {
  readonly id: string;
  readonly duration: { readonly min: number; readonly max: number };
  readonly resolutions: readonly string[];
  readonly ratios: readonly string[];
  readonly defaults: { readonly duration: number; readonly resolution: string; readonly ratio: string };
  /** The maximum length of a prompt in characters, or undefined if it cannot be read. */
  readonly promptMax?: number;
  /** The ratios that an order of text alone cannot have. */
  readonly mediaRatios?: readonly string[];
}
// The form is sent to the public API below `/console/api`: `POST /v1/video/generations`, and the same body to
// `POST /v1/videos/estimate?path=/v1/video/generations`.
