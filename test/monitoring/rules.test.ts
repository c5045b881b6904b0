import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ROOT } from '../image/dockerfile.ts';
import { missingPromtool, promtoolFaults } from './promtool.ts';
import { PROMETHEUS_RULE, RULES, prometheusRule } from './prometheus-rule.ts';
import { alertCases, alerts, caseFiles, recordings } from './rules-file.ts';

const CASES_TIMEOUT_MS = 120_000;
const RUNBOOK = 'deploy/README.md';

/** The anchors that a page of Markdown has for its headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-rules-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('every alert', () => {
  test.each(alerts())('$alert says what it is, how urgent it is, and where its runbook is', (alert) => {
    expect(alert.alert).toMatch(/^Reelgate[A-Z]\w+$/);
    expect(alert.labels['severity']).toMatch(/^(?:page|ticket)$/);
    expect(Object.keys(alert.annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(alert.annotations['runbook_url']).toBe(`{{ $externalLabels.docs }}/${RUNBOOK}#${alert.alert.toLowerCase()}`);
    expect(anchorsOf(RUNBOOK)).toContain(alert.alert.toLowerCase());
  });

  test('has a case that fires and a case that does not', () => {
    const names = alerts().map(({ alert }) => alert);
    const of = (fires: boolean): readonly string[] => [
      ...new Set(alertCases().flatMap((one) => (one.fires === fires ? one.alert : []))),
    ];

    expect(of(true).toSorted()).toEqual(names.toSorted());
    expect(of(false).toSorted()).toEqual(names.toSorted());
  });

  test('has a section of the runbook, and every section has an alert', () => {
    const sections = [...readFileSync(path.join(ROOT, RUNBOOK), 'utf8').matchAll(/^### (Reelgate\w+)$/gm)];

    expect(sections.map(([, name]) => name).toSorted()).toEqual(
      alerts()
        .map(({ alert }) => alert)
        .toSorted(),
    );
  });

  test('is in the object for the Prometheus operator, which is written from the same file', () => {
    expect(readFileSync(PROMETHEUS_RULE, 'utf8')).toBe(prometheusRule());
  });

  test('chooses requests by their kind, and not by a list of routes that a new one would escape', () => {
    const chosen = [...alerts(), ...recordings()].flatMap(({ expr }) => expr.match(/\broute\s*(?:=~?|!=|!~)/g) ?? []);

    expect(chosen).toEqual([]);
  });

  test('reads only recordings that a rule writes', () => {
    const written = new Set(recordings().map(({ record }) => record));
    const read = [...alerts(), ...recordings()].flatMap(({ expr }) => expr.match(/\breelgate:[\w:]+/g) ?? []);

    expect(read.filter((name) => !written.has(name))).toEqual([]);
    expect([...written].filter((name) => !read.includes(name))).toEqual([]);
  });
});

test('no objective chooses its requests by their path, so that it counts a new dialect', () => {
  expect(recordings().filter(({ expr }) => /[{,]\s*route\b/.test(expr))).toEqual([]);
});

const missing = missingPromtool();
if (missing !== undefined) process.stderr.write(`skipped: the rules of Prometheus: ${missing}\n`);

(missing === undefined ? describe : describe.skip)('promtool', () => {
  test('accepts the rules', () => {
    expect(promtoolFaults(['check', 'rules', RULES], folder)).toBeUndefined();
  });

  test.each(caseFiles().map((file) => [path.basename(file), file]))(
    'finds that the alerts fire in their cases, and in no other: %s',
    (_name, file) => {
      expect(promtoolFaults(['test', 'rules', file], folder)).toBeUndefined();
    },
    CASES_TIMEOUT_MS,
  );

  test('refuses an alert that does not fire, so that the cases can fail', () => {
    const file = caseFiles().find((name) => name.endsWith('requests.yaml'))!;
    writeFileSync(path.join(folder, 'rules.yaml'), readFileSync(RULES, 'utf8').replace('> 120', '> 1200'));
    const copy = path.join(folder, 'requests.yaml');
    writeFileSync(copy, readFileSync(file, 'utf8').replace('../rules.yaml', 'rules.yaml'));

    expect(promtoolFaults(['test', 'rules', copy], folder)).toContain('ReelgateJobsWaiting');
  });
});
