const DURATION = /^(\d+)(ms|s|m|h|d)$/;
const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const BYTES = /^(\d+)(B|KiB|MiB|GiB)?$/;
const BYTE_UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const HOST_PORT = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$/;
const PORT_MAX = 65_535;

/** The milliseconds of `200ms`, `3s`, `30m`, `24h`, `7d`; undefined: not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  const ms = Number(count) * (DURATION_MS[unit ?? ''] ?? Number.NaN);
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The bytes of `512`, `64KiB`, `64MiB`, `2GiB`; undefined: not a size. */
export function parseBytes(text: string): number | undefined {
  const [, count, unit = 'B'] = BYTES.exec(text) ?? [];
  const bytes = Number(count) * (BYTE_UNITS[unit] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/**
 * The parts of `127.0.0.1:8080`, `[::1]:8080` or `name:8080`; undefined: not an address. Port 0 means any free port.
 */
export function parseHostPort(text: string): HostPort | undefined {
  const [, host, port] = HOST_PORT.exec(text) ?? [];
  if (host === undefined || Number(port) > PORT_MAX) return undefined;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The formats of values, in words. */
export const FORMAT_WORDS = {
  duration: 'a duration such as 200ms, 3s, 30m or 7d',
  bytes: 'a size such as 512KiB, 64MiB or 2GiB',
  network: 'an address or a network such as 10.0.0.0/8',
  'host-port': 'an address such as 127.0.0.1:8080',
  decimal: 'a decimal in quotes such as "0.08", with at most nine places',
} as const;

export function describeFormat(format: unknown): string | undefined {
  return (FORMAT_WORDS as Readonly<Record<string, string>>)[String(format)];
}
