const ORIGINS_MAX = 64;
/** A browser writes an origin in lower case, and without the usual port of its scheme. */
const ORIGIN = '^(\\*|(?!http:.*:80$)(?!https:.*:443$)[a-z][a-z0-9+.-]*://[a-z0-9._:\\[\\]-]+)$';

/** The pages of other origins that may use the public port. */
export interface CorsSettings {
  /** Origins as browsers send them, or `*` for every one. */
  readonly origins: readonly string[];
  /** True if pages of any origin may fetch the signed links of results. */
  readonly links: boolean;
}

export const corsProperties = {
  origins: {
    type: 'array',
    default: [],
    maxItems: ORIGINS_MAX,
    items: {
      type: 'string',
      pattern: ORIGIN,
      description: 'an origin as browsers send it, such as https://app.example without a slash at the end, or *',
    },
    description: 'a list of the origins whose pages may call',
  },
  links: {
    type: 'boolean',
    default: false,
    description: 'whether pages of any origin may fetch the signed links of results',
  },
} as const;
