import type { Row } from '../engine/row.ts';
import { authenticationRows } from './authentication.ts';
import { contentItemRows } from './content-items.ts';
import { createRows } from './creates.ts';
import { limitRows } from './limits.ts';
import { moneyRows } from './money.ts';
import { asyncRows } from './async.ts';
import { officialRefusalRows } from './official-refusals.ts';
import { mediaRows } from './media.ts';
import { officialRows } from './official.ts';
import { openrouterRows } from './openrouter.ts';
import { readRows } from './reads.ts';
import { relayRows } from './relay.ts';
import { requestRows } from './requests.ts';
import { resultRows } from './results.ts';
import { routingRows } from './routing.ts';
import { sourceRows } from './sources.ts';
import { submissionRows } from './submission.ts';
import { wrongValueRows } from './wrong-values.ts';

/** Every row of the contract. */
export const ROWS: readonly Row[] = [
  ...authenticationRows,
  ...createRows,
  ...contentItemRows,
  ...officialRows,
  ...officialRefusalRows,
  ...wrongValueRows,
  ...openrouterRows,
  ...routingRows,
  ...mediaRows,
  ...readRows,
  ...resultRows,
  ...sourceRows,
  ...submissionRows,
  ...requestRows,
  ...limitRows,
  ...moneyRows,
  ...relayRows,
  ...asyncRows,
];
