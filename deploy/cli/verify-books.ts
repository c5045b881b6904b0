import type { BookServices } from './connect-services.ts';

const CLASSIFY_MAX = 1000;

/** The open holds that no open task has. */
interface StrayHolds {
  /** The tasks that have ended and still have a hold. */
  readonly finished: readonly string[];
  /** The holds without a task. */
  readonly unknown: readonly string[];
}

export interface Books extends StrayHolds {
  readonly ok: boolean;
  readonly entries: bigint;
  /** By currency, in billionths. Each is zero if the ledger balances. */
  readonly sums: Readonly<Record<string, bigint>>;
  readonly faults: readonly string[];
  readonly openCalls: bigint;
  readonly overdueCalls: bigint;
}

interface CompareOptions {
  readonly signal?: AbortSignal;
  /** Reports how many of the open holds were compared. */
  readonly onProgress?: (done: number, of: number) => void;
}

interface VerifyOptions extends CompareOptions {
  readonly timeoutMs: number;
  /** The person who asks, for the record; the operator if absent. */
  readonly actor?: string;
}

/** Checks the ledger, and compares the open holds with the tasks. */
export async function verifyBooks(services: BookServices, { actor = '', ...options }: VerifyOptions): Promise<Books> {
  const { openHoldTaskIds, ...ledger } = await services.accounts.verifyLedger({ actor }, options);
  return { ...ledger, ...(await compareHolds(services, openHoldTaskIds, options)) };
}

/** Compares open holds with their tasks. */
export async function compareHolds(
  { tasks }: BookServices,
  openHoldTaskIds: readonly string[],
  { signal, onProgress }: CompareOptions,
): Promise<StrayHolds> {
  const sorted = { finished: [] as string[], unknown: [] as string[] };
  for (let from = 0; from < openHoldTaskIds.length; from += CLASSIFY_MAX) {
    onProgress?.(from, openHoldTaskIds.length);
    const page = openHoldTaskIds.slice(from, from + CLASSIFY_MAX);
    const { finished, unknown } = await tasks.classifyHolds({ taskIds: page }, { signal });
    sorted.finished.push(...finished);
    sorted.unknown.push(...unknown);
  }
  return sorted;
}
