/** The operations that the contract ties to one model, each with the end of its price keys. */
export const ALPHA_ONLY: Readonly<Record<string, string>> = {
  'video.regeneration': '__regeneration',
  'video.context_ir': '__context_ir',
};
