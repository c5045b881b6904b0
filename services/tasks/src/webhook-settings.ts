import { ConfigError } from '@reelgate/platform/config/config-document';
import { convert, custom, duration, list, whole } from '@reelgate/platform/config/settings';
import type { ValuesOf } from '@reelgate/platform/config/settings';
import { parseHostPort } from '@reelgate/platform/config/units';

const RECEIVER = 'a host and a port such as hooks.internal:8443 or 127.0.0.1:9000';

/** The section `webhooks`. Media reads `allow` too. */
export const webhookKeys = {
  allow: convert(
    list(
      'receivers as `host:port`, which may be called over plain `http`, on other ports than 443 and at private ' +
        'addresses; none: only `https` on port 443 to public addresses',
      custom('a receiver', { type: 'string', format: 'host-port' }, { expects: RECEIVER }, readReceiver),
      { default: [] },
    ),
    (receivers): ReadonlySet<string> => new Set(receivers),
  ),
  retention: duration('how long events, deliveries and attempts are kept', { default: '30d' }),
  endpoints_per_account: whole('the most webhook endpoints of an account', { default: 20 }),
};

export type WebhookSettings = ValuesOf<typeof webhookKeys>;

/** An entry as the host and the port of a URL are read: `0x7f.1:80` is `127.0.0.1:80`. */
function readReceiver(entry: string, at: string): string {
  const host = URL.parse(`http://${entry}`)?.hostname;
  const port = parseHostPort(entry)?.port ?? 0;
  if (host === undefined || port === 0) throw new ConfigError(`${at}: expected ${RECEIVER}`);
  return `${host}:${port}`;
}
