import type { HistoryEntry } from './operator-tasks.ts';
import type { State } from './tasks.ts';

export interface JobRow {
  readonly id: string;
  readonly accountId: string;
  readonly endpoint: string;
  readonly model: string;
  readonly state: State;
  readonly starts: number;
  readonly createdAt: number;
  readonly endedAt?: number;
  readonly failure?: { readonly code: string; readonly message: string };
}

/** GET /jobs. Query: `account`, `state`, `after`. */
export interface JobList {
  readonly jobs: readonly JobRow[];
  readonly after?: string;
}

/** GET /jobs/{jobId}. */
export interface JobView {
  readonly job: JobRow & { readonly tokenId: string };
  readonly history: readonly HistoryEntry[];
  readonly isInAttention: boolean;
}
