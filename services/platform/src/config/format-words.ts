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
