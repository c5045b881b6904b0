#!/usr/bin/env node
/*
 * Asks the registry for known faults of the packages that ship with the program, and exits with 1 if one is high or
 * critical. If the registry does not answer such questions, the script says so and exits with 0.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 60_000;
const args = ['audit', '--omit=dev', '--audit-level=high', '--json'];

const { status, stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', timeout: TIMEOUT_MS });
const report = parsed(stdout ?? '');
const counts = report?.metadata?.vulnerabilities;
if (counts === undefined) {
  console.log(
    `advisories: not checked, ${report?.message ?? report?.error?.summary ?? 'the registry does not serve them'}`,
  );
} else {
  for (const [name, { severity, range }] of Object.entries(report.vulnerabilities ?? {}))
    console.error(`${name} ${range}: ${severity}`);
  console.log(
    `advisories: ${counts.critical} critical, ${counts.high} high, ${counts.moderate} moderate, ${counts.low} low`,
  );
  process.exitCode = status === 0 ? 0 : 1;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
