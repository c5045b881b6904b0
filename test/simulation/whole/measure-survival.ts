import { compareOrders } from './order-outcomes.ts';
import type { Survival } from './order-outcomes.ts';
import type { PlayOptions } from './play-seeds.ts';
import { runSeed } from './run-seed.ts';

type Kind = 'calm' | 'faulty';

/**
 * Runs each seed with and without the names that `--without` has, and prints how many of the other orders stay as they
 * are. Returns whether every rule held.
 */
export async function measureSurvival(options: PlayOptions, first: number): Promise<boolean> {
  const { program, stepsMax, without, seeds = 1 } = options;
  const sums: Record<Kind, Survival> = { calm: NOTHING, faulty: NOTHING };
  for (let seed = first; seed < first + seeds && !options.isStopping(); seed += 1) {
    const whole = await runSeed({ seed, stepsMax, program });
    const shorter = await runSeed({ seed, stepsMax, program, without });
    if (whole.broken !== undefined || shorter.broken !== undefined) return false;
    const survival = compareOrders(whole.events.text(), shorter.events.text());
    console.log(`seed ${seed}: ${whole.crashes} and ${shorter.crashes} crashes, ${showSurvival(survival)}`);
    const kind = whole.faults.length === 0 ? 'calm' : 'faulty';
    sums[kind] = addSurvival(sums[kind], survival);
  }
  console.log(`calm seeds: ${showSurvival(sums.calm)}`);
  console.log(`seeds with faults: ${showSurvival(sums.faulty)}`);
  return true;
}

const NOTHING: Survival = { orders: 0, outcomes: 0, requests: 0 };

function addSurvival(one: Survival, other: Survival): Survival {
  return {
    orders: one.orders + other.orders,
    outcomes: one.outcomes + other.outcomes,
    requests: one.requests + other.requests,
  };
}

function showSurvival({ orders, outcomes, requests }: Survival): string {
  const percent = (count: number): string => `${orders === 0 ? 100 : Math.round((100 * count) / orders)} %`;
  return `of ${orders} orders ${percent(outcomes)} have the same outcome, ${percent(requests)} the same requests`;
}
