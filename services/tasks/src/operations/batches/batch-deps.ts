import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { ChargeReader } from '../../clients/billing.ts';
import type { FileRoomReader, PrivateMediaRemover } from '../../clients/media.ts';
import type { BatchStore } from '../../store/batch-store.ts';
import type { KeyReader } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';

/** The dependencies of the operations on batches. */
export interface BatchDeps {
  readonly media: FileRoomReader & PrivateMediaRemover;
  readonly batches: BatchStore & KeyReader;
  readonly charges: ChargeReader;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly limits: BatchLimits;
  readonly wake: Pick<Deps['wake'], 'batches' | 'events'>;
}

export interface BatchLimits {
  /** The most lines of a batch that have a task which has not ended. */
  readonly inFlight: number;
  /** The most batches of an account that have not ended. */
  readonly perAccount: number;
  /** The time in milliseconds for which ended batches are kept. */
  readonly retentionMs: number;
  /** A worker that is silent for this long is gone. */
  readonly leaseMs: number;
}
