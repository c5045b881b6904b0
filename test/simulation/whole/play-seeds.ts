import { writeFileSync } from 'node:fs';
import { describeShare, listRareActs } from './acts.ts';
import { BACKUP } from './backups.ts';
import { BATCHES } from './batches.ts';
import { BODY_ORDERS } from './bodies.ts';
import { CALLS } from './calls.ts';
import { ORDERS } from './clients.ts';
import { DECISIONS } from './decisions.ts';
import { describeMessages, judgeMessages } from './judge-messages.ts';
import { ERRAND_ACTS } from './errands.ts';
import type { KeptSeed } from './kept-seeds.ts';
import { ACTS } from './operators.ts';
import { STEPS_MAX } from './read-options.ts';
import type { SeedsOptions } from './read-options.ts';
import { RPC_ORDERS } from './rpc-callers.ts';
import { RETENTION } from './retention.ts';
import { runSeed } from './run-seed.ts';
import type { SeedOptions, SeedResult } from './run-seed.ts';
import { STREAM } from './streams.ts';
import { TEAM_ACT } from './team.ts';
import type { SeedReport } from './seed-report.ts';
import { pickHistory } from './pick-history.ts';
import { shrinkRun } from './shrink-run.ts';
import type { ShrunkRun } from './shrink-run.ts';
import { showHistory } from './show-history.ts';
import { UPLOADS } from './uploads.ts';
import { WATCH } from './watches.ts';

export interface PlayOptions extends SeedsOptions, Pick<SeedOptions, 'program'> {
  readonly commit: string;
  /** Nanoseconds of the real clock, which the simulation replaces. */
  readonly readRealTime: () => bigint;
  /** Reports whether to end after the seed that runs now. */
  readonly isStopping: () => boolean;
}

/** A seed to run, and the names that it does without. */
export type SeedToPlay = Pick<KeptSeed, 'seed' | 'without'>;

/** Runs seeds one after another, up to the first broken rule. Returns whether every rule held. */
export async function playSeeds(options: PlayOptions, plays: readonly SeedToPlay[]): Promise<boolean> {
  const { asJson, log, stepsMax, program } = options;
  const begun = options.readRealTime();
  const reports: SeedReport[] = [];
  const messages = new Set<string>();
  // the simulation replaces the loader's parts of Node
  const calls = options.hasMessages ? (await import('./log-messages.ts')).listLogMessages() : undefined;
  for (const { seed, without } of plays) {
    const result = await runSeed({ seed, stepsMax, program, without: new Set(without) });
    const report = toReport(result);
    reports.push(report);
    for (const message of result.messages) messages.add(message);
    if (asJson) console.log(JSON.stringify(report));
    else showResult(result, plays.length === 1);
    if (log !== undefined) writeFileSync(log, result.events.text());
    if (result.broken !== undefined) {
      if (!asJson) tellBroken(options, result, { without, stepsMax });
      return false;
    }
    if (options.isStopping()) break;
  }
  if (!asJson) showTotals(reports, Number(options.readRealTime() - begun) / 1e9);
  if (calls !== undefined) console.log(describeMessages(judgeMessages(calls, messages), reports.length).join('\n'));
  return true;
}

/** Finds a shorter run of a seed that breaks the same rule, and tells it. Returns whether every rule held at first. */
export async function shrinkSeed(options: PlayOptions, seed: number): Promise<boolean> {
  const { without, stepsMax, log, program } = options;
  const first = await runSeed({ seed, stepsMax, program, without });
  showResult(first, true);
  if (first.broken === undefined) return true;
  console.log(`breaks the rule: ${first.broken.rule}`);
  const shrunk = await shrinkRun({
    ...{ first, without, orders: [...ORDERS, ...RPC_ORDERS, ...BODY_ORDERS] },
    acts: [
      ...ACTS,
      ...ERRAND_ACTS,
      ...CALLS,
      ...BATCHES,
      ...UPLOADS,
      ...[STREAM, WATCH, TEAM_ACT, BACKUP, DECISIONS, RETENTION],
    ],
    nameOrders: ({ events, broken }) => pickHistory(events.lines(), broken?.detail ?? '').orders,
    run: (tried, stepsMost) => runSeed({ seed, stepsMax: Math.min(stepsMax, stepsMost), program, without: tried }),
    onRun: ({ kind, left, isSame }) => {
      console.log(`${kind}: ${left} left, ${isSame ? 'breaks the same rule' : 'does not break it'}`);
    },
  });
  const { runs } = shrunk;
  const orders = ORDERS.filter((order) => !shrunk.without.has(order));
  const result = await findStep(shrunk, (checkFrom) =>
    runSeed({ seed, stepsMax: shrunk.result.steps, program, without: shrunk.without, checkFrom }),
  );
  if (log !== undefined) writeFileSync(log, result.events.text());
  console.log(
    `${runs} runs left ${orders.length} of ${ORDERS.length} orders (${orders.join(', ')}), ` +
      `${result.faults.length} faults and ${result.crashes} crashes`,
  );
  showResult(result, true);
  tellBroken(options, result, { without: [...shrunk.without], stepsMax: result.steps });
  return false;
}

/**
 * A rule that reads the stores is checked every fifteen seconds. Runs once more with a check after each step from the
 * last check that held, so that the run ends at the step that broke the rule.
 */
async function findStep(
  { result }: Pick<ShrunkRun, 'result'>,
  run: (checkFrom: number) => Promise<SeedResult>,
): Promise<SeedResult> {
  const earlier = await run(result.checkedAt);
  return earlier.broken?.rule === result.broken?.rule ? earlier : result;
}

function toReport({
  events: _events,
  broken,
  crashNames: _names,
  checkedAt: _checkedAt,
  messages: _messages,
  ...counts
}: SeedResult): SeedReport {
  return { ...counts, rule: broken?.rule, detail: broken?.detail };
}

function showResult({ seed, faults, events, ...counts }: SeedResult, isAlone: boolean): void {
  const { tasks, waiting, works, crashes, steps, virtualMs } = counts;
  console.log(
    `seed ${seed}: ${tasks} tasks (${waiting} wait for a person), ${works} works, ${crashes} crashes, ${steps} steps, ` +
      `${toMinutes(virtualMs)} virtual minutes, log ${events.digest()}`,
  );
  if (isAlone) console.log(`faults: ${faults.length === 0 ? 'none' : faults.join(', ')}`);
}

/** With this many seeds, the shares of acts say something. */
const SEEDS_OF_SHARES = 40;

function showTotals(reports: readonly SeedReport[], seconds: number): void {
  const sum = (count: (report: SeedReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const rate = (count: (report: SeedReport) => number, digits: number): string =>
    (sum(count) / seconds).toFixed(digits);
  console.log(
    `${reports.length} seeds in ${seconds.toFixed(1)} s: ${rate(({ tasks }) => tasks, 1)} tasks, ` +
      `${rate(({ crashes }) => crashes, 1)} crashes, ${rate(({ steps }) => steps, 0)} steps and ` +
      `${toMinutes(sum(({ virtualMs }) => virtualMs) / seconds)} virtual minutes a second`,
  );
  const shares = reports.map(({ accepted }) => accepted / ORDERS.length).toSorted((one, other) => one - other);
  const middle = shares[Math.floor(shares.length / 2)] ?? 0;
  console.log(`in the middle seed, ${describeShare(middle)} of the orders are accepted`);
  if (reports.length < SEEDS_OF_SHARES) return;
  const rare = listRareActs(reports);
  console.log(
    rare.length === 0 ? 'every act and fault has happened often enough' : ['too rare:', ...rare].join('\n  '),
  );
}

/** Tells what a person needs to find the cause: the events of the orders that the rule names, the rule, and the command that replays it. */
function tellBroken(
  options: PlayOptions,
  { seed, events, broken }: SeedResult,
  run: { readonly without: readonly string[]; readonly stepsMax: number },
): void {
  const { orders, lines } = pickHistory(events.lines(), broken?.detail ?? '');
  const title = orders.length === 0 ? 'the last events:' : `the events of ${orders.join(', ')}:`;
  console.log([title, ...showHistory(lines), ''].join('\n'));
  console.log(
    `seed ${seed} at commit ${options.commit}, Node ${process.version}, breaks the rule: ${broken?.rule ?? ''}`,
  );
  console.log(broken?.detail);
  console.log(`replay: ${buildCommand(options, seed, run)}`);
}

/** The command that runs a seed again. */
function buildCommand(
  { bug }: PlayOptions,
  seed: number,
  { without, stepsMax }: { readonly without: readonly string[]; readonly stepsMax: number },
): string {
  return [
    `npm run simulate -- --seed ${seed}`,
    ...(without.length === 0 ? [] : [`--without '${without.join(',')}'`]),
    ...(stepsMax === STEPS_MAX ? [] : [`--steps ${stepsMax}`]),
    ...(bug === undefined ? [] : [`--bug ${bug.name}`]),
  ].join(' ');
}

function toMinutes(ms: number): string {
  return (ms / 60_000).toFixed(1);
}
