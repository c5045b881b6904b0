import { readFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from '../../deploy/local/replace-file.ts';
import { ROOT } from '../image/dockerfile.ts';

export const RULES = path.join(ROOT, 'deploy/monitoring/rules.yaml');
export const PROMETHEUS_RULE = path.join(ROOT, 'deploy/kubernetes/components/monitoring/rules.yaml');
const HEAD = `# Written by \`npm run gen:rules\` from deploy/monitoring/rules.yaml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: reelgate
spec:
`;

/** The rules as an object of the Prometheus operator, whose `spec` is a rules file of Prometheus. */
export function prometheusRule(): string {
  const rules = readFileSync(RULES, 'utf8').replace(/^#.*\n/gm, '');
  return HEAD + rules.replace(/^(?=.)/gm, '  ');
}

/** As a command: node test/monitoring/prometheus-rule.ts writes the object for Kubernetes. */
if (import.meta.main) replaceFile(PROMETHEUS_RULE, prometheusRule());
