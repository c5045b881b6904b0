import { flag, list, text } from '@reelgate/platform/config/settings';
import type { ValuesOf } from '@reelgate/platform/config/settings';

const ORIGINS_MAX = 64;
/** A browser writes an origin in lower case, and without the usual port of its scheme. */
const ORIGIN = '^(\\*|(?!http:.*:80$)(?!https:.*:443$)[a-z][a-z0-9+.-]*://[a-z0-9._:\\[\\]-]+)$';

/** The key `gateway.cors`: the pages of other origins that may use the public port. */
export const corsKeys = {
  origins: list(
    'the origins whose pages may call the public address, such as `https://app.example`, or `"*"` for all',
    text('an origin', {
      pattern: ORIGIN,
      expects: 'an origin as browsers send it, such as https://app.example without a slash at the end, or *',
    }),
    { default: [], maxItems: ORIGINS_MAX, expects: 'a list of the origins whose pages may call' },
  ),
  links: flag('whether pages of every origin may fetch the signed links of results', { default: false }),
};

export type CorsSettings = ValuesOf<typeof corsKeys>;
