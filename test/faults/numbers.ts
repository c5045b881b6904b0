import { SERVICES } from '../cluster/checkout-pods.ts';
import { wrongInBooks } from './books.ts';
import { startLoad } from './clients.ts';
import { failed, listFailures, quantile } from './notes.ts';
import type { Kind, Note } from './notes.ts';
import type { World } from './world.ts';

const RESTART_EVERY_MS = 10_000;
const QUIET_MS = 60_000;
const SETTLE_MS = 10_000;
const CREATES: readonly Kind[] = ['create /v1', 'create /v2'];
const READS: readonly Kind[] = ['read'];

export interface NumbersPlan {
  readonly seed: number;
  readonly createsPerSecond: number;
  readonly othersPerSecond: number;
  readonly restartsForMs: number;
}

/** A share of the run, for one row of the table. */
interface Phase {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Creates at a steady rate while one process after another is stopped by SIGTERM and replaced. Returns the table, and
 * what must not be.
 */
export async function numbers(world: World, plan: NumbersPlan): Promise<{ lines: string[]; wrong: readonly string[] }> {
  const load = startLoad({ base: world.base, ...plan });
  await world.sleep(SETTLE_MS);
  const began = performance.now();
  await world.sleep(QUIET_MS);
  const restarting = performance.now();
  const replaced: Promise<void>[] = [];
  for (let at = 0; performance.now() - restarting < plan.restartsForMs; at += 1) {
    const deployment = world.deployments[SERVICES[at % SERVICES.length]!];
    const [oldest] = deployment.pods.filter(({ isTerminating, isReady }) => isReady && !isTerminating);
    if (oldest !== undefined) replaced.push(deployment.replace(oldest));
    await world.sleep(RESTART_EVERY_MS);
  }
  await Promise.all(replaced);
  await world.available();
  const over = performance.now();
  await world.sleep(QUIET_MS);
  const ended = performance.now();
  await load.end();
  const phases = [
    { name: 'before', from: began, to: restarting },
    { name: `${replaced.length} restarts`, from: restarting, to: over },
    { name: 'after', from: over, to: ended },
  ];
  return {
    lines: tableOf(load.notes, phases),
    wrong: [...listFailures(load.notes), ...(await wrongInBooks(world, load.orders))],
  };
}

function tableOf(notes: readonly Note[], phases: readonly Phase[]): string[] {
  const rows = phases.map(({ name, from, to }) => {
    const within = notes.filter((note) => note.from >= from && note.from < to);
    const of = (kinds: readonly Kind[]): readonly Note[] =>
      within.filter((note) => kinds.includes(note.kind) && !failed(note));
    const perSecond = (some: readonly Note[]): string => ((some.length * 1000) / (to - from)).toFixed(1);
    const p99 = (some: readonly Note[]): string => `${quantile(some, 0.99).toFixed()} ms`;
    const [creates, reads] = [of(CREATES), of(READS)];
    const cells = [name, perSecond(creates), p99(creates), perSecond(reads), p99(reads)];
    return `| ${[...cells, String(within.filter(failed).length)].join(' | ')} |`;
  });
  const head = '| Phase | Creates a second | p99 | Status reads a second | p99 | Failed requests |';
  return [head, '|---|---|---|---|---|---|', ...rows];
}
