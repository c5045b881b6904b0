import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { MONITORING } from './rules-file.ts';

const FOLDER = path.join(MONITORING, 'dashboards');

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly {
    readonly expr: string;
    readonly datasource: { readonly uid: string };
    /** Whether traces of single observations are shown. */
    readonly exemplar?: boolean;
  }[];
  readonly fieldConfig: {
    readonly defaults: {
      readonly unit?: string;
      readonly thresholds?: { readonly steps: readonly { readonly color: string }[] };
    };
  };
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}

/** Every dashboard with the name of its file. */
export const dashboards = (): readonly (readonly [string, Dashboard])[] =>
  readdirSync(FOLDER).map((name) => [name, JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Dashboard]);

/** The expression as Prometheus gets it, with every variable at All. */
export const withoutVariables = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '5m').replace(/\$\{?\w+\}?/g, '.*');

export const expressionsOf = ({ panels }: Dashboard): readonly string[] =>
  panels.flatMap(({ targets }) => targets.map(({ expr }) => withoutVariables(expr)));
