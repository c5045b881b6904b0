import { steeredMsMax } from '../limits.ts';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `500ms`, `10s`, `2m` or `1h`. A number without a unit counts seconds. */
export function readTime(argument: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,6})(ms|s|m|h)?$/.exec(argument) ?? [];
  const factor = unitMs[unit];
  return amount === undefined || factor === undefined ? undefined : Math.min(Number(amount) * factor, steeredMsMax);
}

export function readNumber(argument: string): number | undefined {
  return /^\d{1,9}$/.test(argument) ? Number(argument) : undefined;
}

/** Reads `500x3`: the number, and how often it applies (once without `x`). */
export function readNumberTimes(argument: string): { readonly number: number; readonly times: number } | undefined {
  const [, number, times = '1'] = /^(\d{1,4})(?:x(\d{1,4}))?$/.exec(argument) ?? [];
  return number === undefined ? undefined : { number: Number(number), times: Number(times) };
}
