import type { Acts } from '../acts.ts';
import type { RelayedCalls, ReportedUsage } from '../relayed-calls.ts';
import { JOB_LEASE_MS, NANOS_PER_TOKEN } from '../simulated-config.ts';
import type { BreakRule, ExpectNone, ReadStore, Row } from './read-stores.ts';

export const RUNNING_JOBS = "SELECT id FROM jobs WHERE state NOT IN ('completed', 'failed') LIMIT 1";
/** A lapsed hold is released within this time. */
const LAPSE_MS_MAX = 120_000;
/** A process can die after it has settled a call, and before it stores the answer. Then a person is told. */
const FAILED_JOBS = `SELECT id, EXISTS (SELECT 1 FROM attention WHERE task_id = jobs.id) AS is_unknown
  FROM jobs WHERE state = 'failed'`;
/** Clients label each call with its name. */
const CHARGES = 'SELECT label, basis, charged_nanos, ended_at FROM calls';

/** The relayed calls of a run, as their clients and their upstream know them. */
export interface SeenCalls {
  /** The client has the whole answer of a call, at once or from its queue. */
  answeredWhole(name: string, isQueued: boolean): void;
  /** Forgets the answers that came later. */
  forgetSince(since: number): void;
  /** Checks the calls at the end of a run. */
  checkEnd(read: ReadStore, expectNone: ExpectNone): void;
}

export interface SeenCallsOptions {
  readonly breakRule: BreakRule;
  readonly now: () => number;
  readonly acts: Acts;
  readonly relayed: RelayedCalls;
  /** True if no process has died: a settlement dies with its process, and the hold then lapses after an hour. */
  readonly areAllAlive: () => boolean;
}

export function openSeenCalls({ breakRule, now, acts, relayed, areAllAlive }: SeenCallsOptions): SeenCalls {
  const whole = new Map<string, number>();
  return {
    answeredWhole: (name, isQueued) => {
      if (isQueued && (relayed.find(name)?.answerMs ?? 0) > JOB_LEASE_MS) acts.note('a queued call outlasts its lease');
      whole.set(name, now());
    },
    forgetSince: (since) => {
      for (const [name, at] of whole) if (at > since) whole.delete(name);
    },
    checkEnd: (read, expectNone) => {
      checkHolds(read, expectNone, now());
      checkFailed(read, expectNone, relayed);
      const charges = Map.groupBy(read('billing', CHARGES), ({ label }) => String(label));
      for (const name of whole.keys())
        checkCharge(breakRule, { name, usage: relayed.find(name), rows: charges.get(name) ?? [] }, areAllAlive());
    },
  };
}

/** Each queued call has ended, and each hold is closed, or will lapse. */
function checkHolds(read: ReadStore, expectNone: ExpectNone, now: number): void {
  expectNone('every queued call ends', read('tasks', RUNNING_JOBS));
  expectNone(
    'the hold of a call ends, or lapses in time',
    read('billing', 'SELECT id, placed_at, lapses_at FROM calls WHERE ended_at IS NULL').filter(
      ({ lapses_at: at }) => Number(at) < now - LAPSE_MS_MAX,
    ),
  );
  expectNone(
    'a call is charged at most its hold',
    read('billing', 'SELECT id, amount_nanos, charged_nanos FROM calls WHERE charged_nanos > amount_nanos'),
  );
}

/** A failed queued call is free. One with an unknown outcome may be charged what its upstream has reported. */
function checkFailed(read: ReadStore, expectNone: ExpectNone, relayed: RelayedCalls): void {
  const charges = new Map(
    read('billing', 'SELECT id, label, charged_nanos FROM calls').map((call) => [call['id'], call]),
  );
  const isRight = ({ id, is_unknown: isUnknown }: Row): boolean => {
    const { label, charged_nanos: nanos } = charges.get(id ?? '') ?? {};
    const usage = isUnknown === 1 ? relayed.find(String(label)) : undefined;
    return Number(nanos ?? 0) === 0 || (usage !== undefined && String(nanos) === String(computePrice(usage)));
  };
  expectNone(
    'a failed queued call is charged nothing',
    read('tasks', FAILED_JOBS).filter((job) => !isRight(job)),
  );
}

interface WholeCall {
  readonly name: string;
  readonly usage: ReportedUsage | undefined;
  /** The holds under its label. */
  readonly rows: readonly Row[];
}

/** The price of what the upstream reports is charged once. Only a dead process may leave a hold that lapses. */
function checkCharge(breakRule: BreakRule, { name, usage, rows }: WholeCall, areAllAlive: boolean): void {
  const expected = usage === undefined ? 'nothing, because it was never sent' : String(computePrice(usage));
  const charged = rows.filter(({ basis }) => basis === 'usage' || basis === 'estimate');
  if (charged.length === 0 && !areAllAlive) return;
  if (charged.length === 1 && String(charged[0]?.['charged_nanos']) === expected) return;
  const found = rows.map(({ basis, charged_nanos: nanos }) => `${String(basis)} ${String(nanos)}`).join(', ');
  breakRule(
    'a call that ends well is charged the usage that its upstream reports',
    `${name} must be charged ${expected}, its holds: ${found === '' ? 'none' : found}`,
  );
}

function computePrice({ inputTokens, outputTokens }: ReportedUsage): bigint {
  return BigInt(inputTokens) * NANOS_PER_TOKEN.input + BigInt(outputTokens) * NANOS_PER_TOKEN.output;
}
