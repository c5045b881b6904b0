import type { Act } from '../../src/domain/operator-records.ts';

export type { Act } from '../../src/domain/operator-records.ts';

/** GET /acts. Query: `subject`, `after`. */
export interface ActList {
  readonly acts: readonly Act[];
  readonly after?: string;
}
