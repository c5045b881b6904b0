import type { TimeSource } from '@reelgate/platform/clock';
import { floorToHour } from '../../domain/usage.ts';
import { NO_MARGIN, addMargins, countMargin } from '../../domain/margin.ts';
import type { Nanos } from '../../domain/money.ts';
import type { SourcedCost } from '../../domain/margin.ts';
import type { MoneyCount, MoneyHour, MoneyPlace, MoneyHourWriter } from '../../store/money/money-store.ts';

/** The places of the hours that are not written yet. Further ones are not counted: these are estimates. */
const PLACES_MAX = 20_000;

const NOTHING: MoneyCount = { ...NO_MARGIN, overruns: 0n, overrun: 0n, lapses: 0n };
const UNKNOWN_PLACE: MoneyPlace = { channel: '', priceKey: '', currency: '' };

/** Counts the costs of charged work and the overruns of its prices, in memory. */
export interface MoneyCounts {
  /** Work with its charge, and with its cost at the upstream, which is undefined if it is not known. */
  margin(place: MoneyPlace, charged: Nanos, cost: SourcedCost | undefined): void;
  /** A settlement that cost this much more than was held. */
  overrun(place: MoneyPlace, amount: Nanos): void;
  /** Calls that lapsed and were charged their hold. */
  lapses(times: number): void;
}

export interface MoneyCounter extends MoneyCounts {
  /** Writes the counts that have changed. */
  write(): Promise<void>;
}

interface CountedHour {
  hour: MoneyHour;
  isWritten: boolean;
}

/** The counter of one process. It writes whole hours, so it can repeat a write that failed or had no answer. */
export function moneyCounter(
  store: MoneyHourWriter,
  { clock, process }: { readonly clock: TimeSource; readonly process: string },
): MoneyCounter {
  const hours = new Map<string, CountedHour>();
  const add = ({ channel, priceKey, currency }: MoneyPlace, more: MoneyCount): void => {
    const hour = floorToHour(clock.now());
    const name = `${hour} ${channel} ${priceKey} ${currency}`;
    const known = hours.get(name);
    if (known === undefined && hours.size >= PLACES_MAX) return;
    const before = known?.hour ?? { hour, process, channel, priceKey, currency, ...NOTHING };
    hours.set(name, { hour: { ...before, ...addCounts(before, more) }, isWritten: false });
  };
  return {
    margin: (place, charged, cost) => add(place, { ...NOTHING, ...countMargin(charged, cost) }),
    overrun: (place, overrun) => add(place, { ...NOTHING, overruns: 1n, overrun }),
    lapses: (times) => add(UNKNOWN_PLACE, { ...NOTHING, lapses: BigInt(times) }),
    write: async () => {
      const now = floorToHour(clock.now());
      const changed = [...hours].filter(([, { isWritten }]) => !isWritten);
      if (changed.length > 0) await store.write(changed.map(([, { hour }]) => hour));
      for (const [name, counted] of changed) {
        // A count that came meanwhile is another object, and stays to be written.
        if (hours.get(name) === counted) counted.isWritten = true;
      }
      for (const [name, { hour, isWritten }] of hours) if (isWritten && hour.hour < now) hours.delete(name);
    },
  };
}

function addCounts(before: MoneyCount, more: MoneyCount): MoneyCount {
  return {
    ...addMargins(before, more),
    overruns: before.overruns + more.overruns,
    overrun: before.overrun + more.overrun,
    lapses: before.lapses + more.lapses,
  };
}
