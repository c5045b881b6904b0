import { create } from '@bufbuild/protobuf';
import type { VerifyLedgerResponse } from '@reelgate/proto/billing/v1/account_service';
import { ClassifyHoldsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ClassifyHoldsResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type { BookServices } from './connect-services.ts';

const CLASSIFY_MAX = 1000;

export interface Books {
  readonly ledger: VerifyLedgerResponse;
  /** The open holds that no open task has. */
  readonly holds: ClassifyHoldsResponse;
}

interface CompareOptions {
  readonly signal?: AbortSignal;
  /** Reports how many of the open holds were compared. */
  readonly onProgress?: (done: number, of: number) => void;
}

interface VerifyOptions extends CompareOptions {
  readonly timeoutMs: number;
  /** The operator's name for the record. */
  readonly actor?: string;
}

/** Checks the ledger, and compares the open holds with the tasks. */
export async function verifyBooks(services: BookServices, { actor = '', ...options }: VerifyOptions): Promise<Books> {
  const ledger = await services.accounts.verifyLedger({ actor }, options);
  return { ledger, holds: await compareHolds(services, ledger.openHoldTaskIds, options) };
}

/** Compares open holds with their tasks. */
export async function compareHolds(
  { tasks }: BookServices,
  openHoldTaskIds: readonly string[],
  { signal, onProgress }: CompareOptions,
): Promise<ClassifyHoldsResponse> {
  const sorted = create(ClassifyHoldsResponseSchema);
  for (let from = 0; from < openHoldTaskIds.length; from += CLASSIFY_MAX) {
    onProgress?.(from, openHoldTaskIds.length);
    const page = openHoldTaskIds.slice(from, from + CLASSIFY_MAX);
    const { finished, unknown } = await tasks.classifyHolds({ taskIds: page }, { signal });
    sorted.finished.push(...finished);
    sorted.unknown.push(...unknown);
  }
  return sorted;
}
