import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { yamlDocuments } from '../manifests/platform-packages.ts';
import { ROOT } from '../image/dockerfile.ts';
import { RULES } from './prometheus-rule.ts';

export const MONITORING = path.join(ROOT, 'deploy/monitoring');
const CASES = path.join(MONITORING, 'tests');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Recording {
  readonly record: string;
  readonly expr: string;
}

/** A case of promtool: the alert, and how many of it must fire. */
export interface AlertCase {
  readonly alert: string;
  readonly fires: boolean;
}

const firstDocument = <T>(file: string): T => yamlDocuments(readFileSync(file, 'utf8'))[0] as T;

const rules = (): readonly (Alert | Recording)[] =>
  firstDocument<{ groups: { rules: (Alert | Recording)[] }[] }>(RULES).groups.flatMap((group) => group.rules);

export const alerts = (): readonly Alert[] => rules().filter((rule) => 'alert' in rule);
export const recordings = (): readonly Recording[] => rules().filter((rule) => 'record' in rule);

export const caseFiles = (): readonly string[] => readdirSync(CASES).map((name) => path.join(CASES, name));

interface CaseFile {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

export const alertCases = (): readonly AlertCase[] =>
  caseFiles()
    .flatMap((file) => firstDocument<CaseFile>(file).tests)
    .flatMap(({ alert_rule_test: cases = [] }) => cases)
    .map(({ alertname, exp_alerts: expected }) => ({ alert: alertname, fires: expected.length > 0 }));
