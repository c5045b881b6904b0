import path from 'node:path';
import { describeOnEngines as describeOnNewEngines } from '@reelgate/platform/testing/describe-on-engines';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { describePooled as describeOnNewPools } from '@reelgate/platform/testing/describe-pooled';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');

/** Runs the same tests on every engine. A test still runs the migrations of this service, which may have run already. */
export function describeOnEngines(title: string, tests: (open: OpenSql) => void): void {
  describeOnNewEngines(title, tests, MIGRATIONS);
}

/** The same behind a pooler in transaction mode. */
export function describePooled(title: string, tests: (open: OpenSql) => void): void {
  describeOnNewPools(title, tests, MIGRATIONS);
}
