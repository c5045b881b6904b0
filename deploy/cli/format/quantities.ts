import { WrongCall } from '../command.ts';

const NANOS = 1_000_000_000n;
const AMOUNT = /^(-?)(\d{1,9})(?:\.(\d{1,9}))?$/;

/** Writes billionths as a decimal without trailing zeros. */
export function formatNanos(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = (size % NANOS).toString().padStart(9, '0').replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${(size / NANOS).toString()}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Reads a decimal with at most nine places as billionths. */
export function parseNanos(text: string): bigint {
  const [, sign, whole, fraction = ''] = AMOUNT.exec(text) ?? [];
  if (whole === undefined) throw new WrongCall(`expected an amount such as 5.25, not ${text}`);
  const nanos = BigInt(whole) * NANOS + BigInt(fraction.padEnd(9, '0'));
  return sign === '-' ? -nanos : nanos;
}

const KIB = 1024;
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Writes a size such as `812 B` or `1.4 MiB`. */
export function asBytes(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`;
  const power = Math.min(Math.floor(Math.log(bytes) / Math.log(KIB)), UNITS.length);
  return `${(bytes / KIB ** power).toFixed(1)} ${UNITS[power - 1] ?? ''}`;
}
