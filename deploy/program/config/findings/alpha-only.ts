/** The operations that the contract ties to one model, and the end of the keys that they are priced under. */
export const ALPHA_ONLY: Readonly<Record<string, string>> = {
  'video.regeneration': '__regeneration',
  'video.context_ir': '__context_ir',
};
