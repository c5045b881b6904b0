import { ConfigError } from '@reelgate/platform/config/config-file';
import { bytes, convert, custom, duration, list, text, whole } from '@reelgate/platform/config/settings';
import type { ValuesOf } from '@reelgate/platform/config/settings';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { URL_CHARACTERS_MAX } from '../domain/remote-url.ts';
import { isAddress } from './addresses/address-policy.ts';

/** An exception holds for the media of clients or for the results of upstreams. */
export const FETCH_PURPOSES = ['inputs', 'results'] as const;
export type FetchPurpose = (typeof FETCH_PURPOSES)[number];

export interface FetchException extends HostPort {
  /** Undefined if the exception holds for the media of clients and for results. */
  readonly purpose: FetchPurpose | undefined;
}

type ExceptionEntry = string | { readonly host: string; readonly for: FetchPurpose };

const ADDRESS_AND_PORT = 'an address and a port such as 127.0.0.1:9000 or [::1]:9000';
const ADDRESS_AND_PORT_PATTERN = '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\]):\\d{1,5}$';
const DNS_SERVER = 'the address of a DNS server such as 10.0.0.2, 10.0.0.2:53 or [fd00::2]:53';
const DNS_PORT = 53;

/** The key `media.fetch`. */
export const fetchKeys = {
  allow: list(
    'private addresses that can be dialled, each on one port',
    custom(
      'an address, and what is fetched there',
      {
        type: ['object', 'string'],
        pattern: ADDRESS_AND_PORT_PATTERN,
        additionalProperties: false,
        required: ['host', 'for'],
        properties: {
          host: {
            type: 'string',
            pattern: ADDRESS_AND_PORT_PATTERN,
            description: ADDRESS_AND_PORT,
            about: 'a private address and its port, such as `10.0.0.7:9000`',
          },
          for: {
            enum: FETCH_PURPOSES,
            about: '`results`: only results of upstreams are fetched there; `inputs`: only media that clients name',
          },
        },
      },
      { expects: `${ADDRESS_AND_PORT}, or such as { host: "127.0.0.1:9000", for: results }` },
      readException,
    ),
    { default: [] },
  ),
  ports: list(
    'the ports that can be dialled besides those of `allow`',
    whole('a port', { max: 65_535, expects: 'a port' }),
    { default: [80, 443] },
  ),
  max_redirects: whole('the most redirects of one fetch', { default: 3, min: 0, as: 'redirectsMax' }),
  dns_servers: list(
    'the servers that resolve names; none: those of the system',
    convert(
      text('the address of a server', {
        pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?$',
        expects: `${DNS_SERVER}; none: those of the system`,
      }),
      readDnsServer,
    ),
    { default: [] },
  ),
  in_flight: {
    total: whole('the most fetches at one time', { default: 16 }),
    per_account: whole('the same, by account', { default: 4 }),
    per_host: whole('the same, by name and by address', { default: 4 }),
  },
  yield_after: duration('how long a transfer keeps its permits before it can be made to yield to another account', {
    default: '2s',
  }),
  least_speed: bytes('the least speed of a body, in bytes per second, over every window of `speed_window`', {
    default: '16KiB',
    as: 'leastBytesPerSecond',
  }),
  speed_window: duration('the time over which the speed of a body is measured', { default: '15s' }),
  header_bytes: bytes('the largest headers of an answer', { default: '16KiB', as: 'headerBytesMax' }),
  url_characters: whole('the longest URL', { default: URL_CHARACTERS_MAX, as: 'urlCharactersMax' }),
  timeouts: {
    dns: timeout('5s', 'for the resolution of a name'),
    connect: timeout('5s', 'for a connection'),
    headers: timeout('10s', 'for the headers of an answer'),
    idle: timeout('10s', 'between two pieces of a body'),
    image_total: timeout('30s', 'for an image or audio as a whole'),
    video_total: timeout('120s', 'for a video as a whole'),
    queue: timeout('60s', 'for a free permit'),
  },
};

export type FetchConfig = ValuesOf<typeof fetchKeys>;

function timeout(byDefault: string, what: string) {
  return duration(`the longest wait ${what}`, { default: byDefault, min: '1ms' });
}

/** An entry that only resembles an address would be an exception without effect. */
function readException(entry: ExceptionEntry, at: string): FetchException {
  const [key, host, purpose] = typeof entry === 'string' ? ['', entry] : ['.host', entry.host, entry.for];
  const parsed = parseHostPort(host);
  if (parsed === undefined || !isAddress(parsed.host))
    throw new ConfigError(`${at}${key}: expected ${ADDRESS_AND_PORT}`);
  return { ...parsed, purpose };
}

/** With an entry that only resembles an address, every lookup would fail. */
function readDnsServer(entry: string, at: string): string {
  const parsed = parseHostPort(entry) ?? parseHostPort(`${entry}:${DNS_PORT}`);
  if (parsed === undefined || !isAddress(parsed.host)) throw new ConfigError(`${at}: expected ${DNS_SERVER}`);
  return entry;
}
