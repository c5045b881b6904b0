import { readFileSync } from 'node:fs';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import { toConnectError } from '@reelgate/platform/rpc/problems';
import { EVERY_KIND } from '@reelgate/platform/testing/refusals';
import ts from 'typescript';
import { findErrorRow } from '../../services/gateway/src/problems/error-table.ts';
import {
  CODES,
  PICKS,
  REPEATS,
  TABLES,
  isTable,
  propertyOf,
  reasonsIn,
  sources,
  uses,
  within,
} from './refusal-uses.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TABLE = 'proto/reasons.md';
const ROW = /^\| `([a-z_]+)` \| (\S+) \| (\S+) \| (.+) \| (.+) \|$/;
const NONE = '–';

const rows = readFileSync(path.join(ROOT, TABLE), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, reason = '', grpc = '', http = ''] = ROW.exec(line) ?? [];
    return reason === '' ? [] : [{ reason, grpc, http }];
  });

/** Such as `INVALID_ARGUMENT`. The codes of Connect have the numbers of those of gRPC. */
const codeNameOf = (kind: ProblemKind, reason: string): string =>
  String(status[toConnectError(new Problem({ kind, reason, message: 'm' })).code]);

const statusesOf = (reason: string): readonly string[] =>
  uses
    .filter((use) => use.reason === reason)
    .flatMap(({ kind, status = kind && findErrorRow({ kind, reason }).status }) =>
      status === undefined ? [] : [String(status)],
    );

test('every reason that the code gives has one row', () => {
  expect(rows.map(({ reason }) => reason).toSorted()).toEqual(
    [...new Set(uses.map(({ reason }) => reason))].toSorted(),
  );
});

describe.each(Object.entries(TABLES))('the table of %s', (service, table) => {
  const own = sources.filter(({ file }) => file.startsWith(`services/${service}/`) && !isTable(file));

  test('has each reason that the service gives, with its kind', () => {
    const given = uses.filter(({ file }) => file.startsWith(`services/${service}/`) && !CODES.test(file));

    expect([...new Set(given.map(({ reason }) => reason))].filter((reason) => table[reason] === undefined)).toEqual([]);
    for (const { reason, kind } of given)
      if (kind !== undefined) expect([reason, table[reason]?.kind]).toEqual([reason, kind]);
  });

  test('has no reason that the service does not give', () => {
    const words = new Set(own.flatMap(({ source }) => reasonsIn(source)));

    expect(Object.keys(table).filter((reason) => !words.has(reason))).toEqual([]);
    expect(Object.keys(table)).toEqual(Object.keys(table).toSorted());
  });
});

test('no reason is given in a way that this test does not read', () => {
  const unread = sources
    .filter(({ file }) => !PICKS.includes(file) && !REPEATS.includes(file))
    .flatMap(({ file, source }) =>
      [...within(source)].flatMap((node) => {
        if (!ts.isNewExpression(node) || node.expression.getText() !== 'Problem') return [];
        const [init] = node.arguments ?? [];
        const reason = init && propertyOf(init, 'reason');
        return reason !== undefined && reasonsIn(reason).length > 0 ? [] : [`${file}: ${node.getText().slice(0, 80)}`];
      }),
    );

  expect(unread).toEqual([]);
});

describe.each(rows)('$reason', ({ reason, grpc, http }) => {
  const own = uses.filter((use) => use.reason === reason);

  test('has the gRPC code of its kind, or none if only the public API gives it', () => {
    const inServices = own.filter(({ file }) => !file.startsWith('services/gateway/') && !CODES.test(file));
    const codes = new Set(inServices.flatMap(({ kind }) => (kind === undefined ? [] : [codeNameOf(kind, reason)])));

    if (inServices.length === 0) expect(grpc).toBe(NONE);
    else if (codes.size > 0) expect([...codes]).toEqual([grpc]);
    else expect(grpc).not.toBe(NONE);
  });

  test('has the HTTP status of the public API', () => {
    const known = new Set(statusesOf(reason));
    const possible = EVERY_KIND.map((kind) => String(findErrorRow({ kind, reason }).status));

    if (http === NONE) expect(own.every(({ file }) => !file.startsWith('services/gateway/'))).toBe(true);
    else if (known.size > 0) expect([...known]).toEqual([http]);
    else expect(possible).toContain(http);
  });
});
