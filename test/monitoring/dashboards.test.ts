import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { dashboards, expressionsOf } from './dashboards.ts';
import type { Panel } from './dashboards.ts';
import { metricsOf } from './named-metrics.ts';
import { missingPromtool, promtoolFaults } from './promtool.ts';
import { recordings } from './rules-file.ts';

const PANELS_MAX = 20;
const COLUMNS = 24;
const CHOSEN_SOURCE = '$'.concat('{datasource}');
/** The schema of Grafana 12. */
const SCHEMA_VERSION = 41;

const missing = missingPromtool();
if (missing !== undefined) process.stderr.write(`skipped: the expressions of the dashboards: ${missing}\n`);
const withPromtool = missing === undefined ? test : test.skip;
const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-dashboards-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** What promtool says about the expressions. */
function faultsOf(expressions: readonly string[]): string | undefined {
  const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
  const file = path.join(folder, 'expressions.yaml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  return promtoolFaults(['check', 'rules', '--lint=none', file], folder);
}

test('there are five dashboards, each with an address of its own that stays', () => {
  expect(
    dashboards()
      .map(([, { uid }]) => uid)
      .sort(),
  ).toEqual(['reelgate-gateway', 'reelgate-money', 'reelgate-queue', 'reelgate-tasks', 'reelgate-webhooks']);
});

test('promtool refuses a wrong expression, so that the dashboards can fail', () => {
  if (missing === undefined) expect(faultsOf(['sum by (le (up)'])).toContain('parse error');
});

describe.each(dashboards())('%s', (_name, board) => {
  test('has the schema of a current Grafana and at most twenty panels, each with a number of its own', () => {
    expect(board.schemaVersion).toBe(SCHEMA_VERSION);
    expect(board.panels.length).toBeLessThanOrEqual(PANELS_MAX);
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    expect(new Set(board.panels.map(({ title }) => title)).size).toBe(board.panels.length);
  });

  test('begins with a row of numbers that are green or red', () => {
    const first = board.panels.filter(({ gridPos: { y } }) => y === 0);
    expect(first.map(({ gridPos: { w } }) => w).reduce((sum, w) => sum + w)).toBe(COLUMNS);
    for (const { type, fieldConfig } of first) {
      expect(type).toBe('stat');
      expect(fieldConfig.defaults.thresholds?.steps.map(({ color }) => color).toSorted()).toEqual(['green', 'red']);
    }
  });

  test('has no panel over another, and none beyond the edge', () => {
    const { panels } = board;
    const overlapping = panels.flatMap((one, index) =>
      panels.slice(index + 1).flatMap((other) => (overlap(one, other) ? [[one.title, other.title]] : [])),
    );
    expect(overlapping).toEqual([]);
    expect(panels.filter(({ gridPos: { x, w } }) => x < 0 || x + w > COLUMNS)).toEqual([]);
  });

  test('has a unit for every panel, and asks the chosen data source', () => {
    expect(board.panels.filter(({ fieldConfig }) => !fieldConfig.defaults.unit).map(({ title }) => title)).toEqual([]);
    const sources = board.panels.flatMap(({ targets }) => targets.map(({ datasource }) => datasource.uid));
    expect([...new Set(sources)]).toEqual([CHOSEN_SOURCE]);
  });

  test('uses every variable that it has, and has every variable that it uses', () => {
    const { list } = board.templating;
    const used = board.panels
      .flatMap(({ targets }) => targets.flatMap(({ expr, datasource }) => [expr, datasource.uid]))
      .concat(list.map(({ definition = '' }) => definition))
      .flatMap((text) => [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name))
      .filter((name) => !name.startsWith('__'));

    expect([...new Set(used)].toSorted()).toEqual(list.map(({ name }) => name).toSorted());
    expect(list.map(({ name }) => name)).toEqual(expect.arrayContaining(['datasource', 'namespace']));
  });

  test('bounds every query by the chosen namespace, and reads only recordings that a rule writes', () => {
    const named = expressionsOf(board).flatMap(metricsOf);
    const written = recordings().map(({ record }) => record);

    expect(named.filter(({ labels }) => !labels.includes('namespace'))).toEqual([]);
    expect(named.filter(({ name }) => name.includes(':') && !written.includes(name))).toEqual([]);
  });

  withPromtool('has only expressions that Prometheus can read', () => {
    expect(faultsOf(expressionsOf(board))).toBeUndefined();
  });
});
