import path from 'node:path';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { openFindings } from './keep-findings.ts';
import type { Findings } from './keep-findings.ts';
import type { NightOptions } from './read-options.ts';
import { DEADLY, ENDLESS, readChild, runBatch } from './run-batch.ts';
import type { BatchFault } from './run-batch.ts';
import type { SeedReport } from './seed-report.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MAIN = path.join(import.meta.dirname, 'main.ts');
const KEPT = path.join(ROOT, '.simulation');
const BATCH_SEEDS = 100;
const HEAP_MB_MAX = 2048;
/** A seed takes some seconds. One that takes this long hangs. */
const SEED_MS_MAX = 5 * 60_000;
/** More processes that die one after another are a program that does not even start. */
const DEATHS_IN_A_ROW_MAX = 20;
const SUMMARY_MS = 5 * 60_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEEDS_SHOWN_MAX = 5;

export interface Night {
  readonly options: NightOptions;
  readonly firstSeed: number;
  readonly commit: string;
  readonly clock: Clock;
  readonly print: (text: string) => void;
  /** Aborted: the night ends after the seeds that run now. */
  readonly stop: AbortController;
  /** Aborted: the night ends at once. */
  readonly kill: AbortSignal;
}

/** Runs seeds until its time is over, and keeps what breaks a rule. Returns whether every rule held. */
export async function runNight(night: Night): Promise<boolean> {
  const { options, clock, print, stop } = night;
  const findings = openFindings(options.keep ?? KEPT, { commit: night.commit, node: process.version });
  const totals = openTotals(clock);
  const seeds = openSeeds(night);
  const over = new AbortController();
  const endsAt = computeEnd(clock.now(), options);
  if (endsAt !== undefined)
    void clock.sleep(endsAt - clock.now(), over.signal).then(() => {
      if (!over.signal.aborted) stop.abort(NOT_AWAITED);
    });
  const summarise = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await clock.sleep(SUMMARY_MS, over.signal);
      if (!over.signal.aborted) print(showSummary(totals, findings));
    }
  };
  print(`the first seed is ${night.firstSeed}; what breaks a rule is kept in ${options.keep ?? KEPT}`);
  const summarising = summarise();
  await Promise.all(Array.from({ length: options.cores }, () => runCore({ night, seeds, totals, findings })));
  over.abort(NOT_AWAITED);
  await summarising;
  print(showSummary(totals, findings));
  return findings.list().length === 0;
}

/** The time at which the night ends; undefined: it goes on until it is stopped. */
export function computeEnd(now: number, { hours, until }: Pick<NightOptions, 'hours' | 'until'>): number | undefined {
  if (until === undefined) return hours === undefined ? undefined : now + hours * HOUR_MS;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const today = midnight + until * MINUTE_MS;
  return today > now ? today : today + DAY_MS;
}

interface Core {
  readonly night: Night;
  readonly seeds: Seeds;
  readonly totals: Totals;
  readonly findings: Findings;
}

/** Runs one batch after another. A finding ends the process of a batch, and another one goes on after its seed. */
async function runCore(core: Core): Promise<void> {
  const { night, seeds, totals } = core;
  let deaths = 0;
  for (let batch = seeds.take(); batch.count > 0 && deaths < DEATHS_IN_A_ROW_MAX; batch = seeds.take()) {
    let [first, left] = [batch.first, batch.count];
    while (left > 0 && !night.stop.signal.aborted && deaths < DEATHS_IN_A_ROW_MAX) {
      const reports: SeedReport[] = [];
      const fault = await runBatch({
        ...toChild(night, ['--seed', String(first), '--seeds', String(left), '--json']),
        onReport: (report) => {
          reports.push(report);
          totals.add(report);
        },
      });
      const last = reports.at(-1);
      const done = reports.length + (fault === undefined ? 0 : 1);
      deaths = fault !== undefined && last === undefined ? deaths + 1 : 0;
      if (fault !== undefined) await keepFinding(core, first + reports.length, fault);
      else if (last?.rule !== undefined)
        await keepFinding(core, last.seed, { rule: last.rule, detail: last.detail ?? '' });
      [first, left] = [first + done, left - done];
    }
  }
  if (deaths >= DEATHS_IN_A_ROW_MAX) night.print(`${deaths} processes died one after another; this core gives up`);
}

async function keepFinding({ night, findings }: Core, seed: number, { rule, detail }: BatchFault): Promise<void> {
  const { options, print } = night;
  const planted = options.bug === undefined ? '' : ` --bug ${options.bug.name}`;
  const folder = findings.keep({ rule, detail, seed, command: `npm run simulate -- --seed ${seed}${planted}` });
  if (folder === undefined) return;
  print(`seed ${seed} breaks the rule: ${rule}`);
  if (rule === ENDLESS || rule === DEADLY) return;
  const words = ['--seed', String(seed), '--shrink', '--log', path.join(folder, 'events.log')];
  findings.keepHistory(rule, await readChild(toChild(night, words)));
  print(`its history is in ${folder}`);
}

function toChild({ options, clock, stop, kill }: Night, words: readonly string[]) {
  const planted = options.bug === undefined ? [] : ['--bug', options.bug.name];
  const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MB_MAX}`];
  return {
    words: [...flags, MAIN, ...words, ...planted],
    clock,
    silenceMsMax: SEED_MS_MAX,
    stop: stop.signal,
    kill,
  };
}

interface Seeds {
  /** The next seeds to run. A count of 0: there are none. */
  take(): { readonly first: number; readonly count: number };
}

/** Deals the seeds out to the cores. */
function openSeeds({ firstSeed, options, stop }: Night): Seeds {
  let taken = 0;
  return {
    take: () => {
      const left = (options.seeds ?? Infinity) - taken;
      const count = stop.signal.aborted ? 0 : Math.max(0, Math.min(BATCH_SEEDS, left));
      const first = firstSeed + taken;
      taken += count;
      return { first, count };
    },
  };
}

interface Totals {
  add(report: SeedReport): void;
  show(): string;
}

function openTotals(clock: Clock): Totals {
  const begunAt = clock.now();
  const faults = new Map<string, number>();
  let [worlds, tasks, waiting, crashes, virtualMs] = [0, 0, 0, 0, 0];
  return {
    add: (report) => {
      worlds += 1;
      tasks += report.tasks;
      waiting += report.waiting;
      crashes += report.crashes;
      virtualMs += report.virtualMs;
      for (const fault of report.faults) faults.set(fault, (faults.get(fault) ?? 0) + 1);
    },
    show: () => {
      const ms = Math.max(1, clock.now() - begunAt);
      const rate = (count: number): string => `${((count * 1000) / ms).toFixed(1)} a second`;
      const on = [...faults].map(([fault, count]) => `${fault} ${count}`).join(', ');
      return [
        `${(ms / HOUR_MS).toFixed(2)} hours: ${worlds} worlds (${rate(worlds)}), ${tasks} tasks (${rate(tasks)}), of ` +
          `which ${waiting} wait for a person, ${crashes} crashes (${rate(crashes)}), ` +
          `${(virtualMs / HOUR_MS).toFixed(1)} virtual hours`,
        `worlds with each fault on: ${on === '' ? 'none' : on}`,
      ].join('\n');
    },
  };
}

function showSummary(totals: Totals, findings: Findings): string {
  const broken = findings
    .list()
    .map(
      ({ rule, count, seeds, command }) =>
        `broken: ${rule}: ${count} seeds (${seeds.slice(0, SEEDS_SHOWN_MAX).join(', ')}); ${command}`,
    );
  return [totals.show(), ...(broken.length === 0 ? ['no rule is broken'] : broken)].join('\n');
}
