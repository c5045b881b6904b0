import { ConfigError } from '@reelgate/platform/config/config-document';
import { parseDuration, parseHostPort } from '@reelgate/platform/config/units';
import { objectSchema, duration, whole } from './schema-parts.ts';

const RECEIVER = 'a host and a port such as hooks.internal:8443 or 127.0.0.1:9000';

/** The section `webhooks`. Media reads `allow` too. */
export const webhooksSchema: object = {
  ...objectSchema({
    allow: {
      type: 'array',
      default: [],
      items: { type: 'string', format: 'host-port', description: RECEIVER },
    },
    retention: duration('30d'),
    endpoints_per_account: whole(1, 20),
  }),
  default: {},
};

export interface WebhooksEntry {
  readonly allow: readonly string[];
  readonly retention: string;
  readonly endpoints_per_account: number;
}

export interface WebhookSettings {
  /** Receivers such as `hooks.internal:8443` that need neither https nor a public host. */
  readonly allow: ReadonlySet<string>;
  /** The time in milliseconds for which events, deliveries and attempts are kept. */
  readonly retentionMs: number;
  readonly endpointsPerAccount: number;
}

export function webhookSettings(entry: WebhooksEntry): WebhookSettings {
  return {
    allow: new Set(entry.allow.map(parseReceiver)),
    retentionMs: parseDuration(entry.retention) ?? 0,
    endpointsPerAccount: entry.endpoints_per_account,
  };
}

/** An entry as the host and the port of a URL are read: `0x7f.1:80` is `127.0.0.1:80`. */
function parseReceiver(entry: string, at: number): string {
  const host = URL.parse(`http://${entry}`)?.hostname;
  const port = parseHostPort(entry)?.port ?? 0;
  if (host === undefined || port === 0) throw new ConfigError(`webhooks.allow.${at}: expected ${RECEIVER}`);
  return `${host}:${port}`;
}
