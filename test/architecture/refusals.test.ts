import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { toConnectError } from '@reelgate/platform/rpc/problems';
import { findErrorRow } from '../../services/gateway/src/problems/error-table.ts';
import { TABLES, isTable, uses } from './refusal-uses.ts';
import type { Use } from './refusal-uses.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const HEAD = `# Refusals of SERVICE

Every refusal of this service: its reason, its status, its sentence and the files where it arises. An ellipsis stands for a
value of the request. A sentence without a subject continues the name of the field. What a reason means and what to do about
it is in [reasons](../../proto/reasons.md); the table in the code is \`src/refusals.ts\`.

\`UPDATE_GOLDEN=1 npm test -- test/architecture/refusals\` writes this page from the code.

`;

function writeStatus(service: string, { reason, status: written }: Use): string {
  if (written !== undefined) return String(written);
  const { kind } = TABLES[service]?.[reason] ?? { kind: 'internal' };
  if (service === 'gateway') return String(findErrorRow({ kind, reason }).status);
  return String(status[toConnectError(new Problem({ kind, reason, message: 'm' })).code]);
}

/** One row for each sentence of a reason. */
function writePage(service: string): string {
  const given = uses.filter(({ file }) => file.startsWith(`services/${service}/`) && !isTable(file));
  const row = (use: Use): string =>
    `| \`${use.reason}\` | ${writeStatus(service, use)} | ${(use.sentence ?? '…').replaceAll('|', '\\|')} |`;
  const lines = [...Map.groupBy(given, row)].map(([cells, those]) => {
    const places = new Set(those.map(({ file }) => file.replace(`services/${service}/src/`, '')));
    return `${cells} ${[...places].toSorted().join(', ')} |`;
  });
  const table = ['| Reason | Status | Sentence | Where |', '|---|---|---|---|', ...lines.toSorted()].join('\n');
  return `${HEAD.replace('SERVICE', service)}${table}\n`;
}

test.each(Object.keys(TABLES))('the page of the refusals of %s is as its code', (service) => {
  const file = path.join(ROOT, 'services', service, 'refusals.md');
  const page = writePage(service);
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(file, page);

  expect(readFileSync(file, 'utf8')).toBe(page);
});
