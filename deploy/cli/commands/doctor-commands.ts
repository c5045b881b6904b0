import { systemClock } from '@reelgate/platform/clock';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { checkOwnAdapters } from '../../program/config/read-config.ts';
import { readProgramConfig } from '../../program/config/program-config.ts';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import { assertNoWords, defineCommand } from '../command.ts';
import type { Outcome } from '../command.ts';
import { connectDiagnosed } from '../diagnosed-services.ts';
import { newDeadline } from '../doctor/deadline.ts';
import { findWorstGrade, countLines, newLineFormat } from '../doctor/doctor-line.ts';
import type { DoctorLine, Report } from '../doctor/doctor-line.ts';
import { examine } from '../doctor/examine.ts';
import { readBegin } from '../doctor/supervise-doctor.ts';
import { whileShowing } from '../while-showing.ts';

const SECRET_NAME = /(^|_)key$|password|token|authorization/;
const IN_ADDRESS = /:\/\/([^@/\s]*)@/;
/** Shorter texts also occur in words that are not secret. */
const SECRET_LENGTH_MIN = 6;

const EXIT_CODES = { ok: 0, warn: 1, fail: 2 } as const;

export const doctor = defineCommand({
  summary:
    'report within 10 s the faults of services, stores, channels, clocks and books; exit code 1: warnings, 2: failures',
  words: '',
  options: {
    gateway: {
      value: 'HOST:PORT',
      means: 'the admin port of the gateway; default: gateway.admin of the configuration',
    },
  },
  example: 'doctor',
  run: async ({ words, options, environment, services, terminal, print }) => {
    assertNoWords(words);
    const deadline = newDeadline(systemClock, readBegin(environment) ?? systemClock.now());
    const format = newLineFormat();
    const report: Report = (...lines) => {
      terminal.clear();
      for (const line of lines) print(format(line));
    };
    let config: ProgramConfig;
    try {
      config = readProgramConfig(environment);
      await checkOwnAdapters(config);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const refused = describeRefused(error);
      report(...refused);
      return toOutcome(refused);
    }
    const hide = hideSecrets(config);
    const awaited = new Set<string>();
    const diagnosed = connectDiagnosed(config, options.gateway);
    try {
      const lines = await whileShowing(
        terminal,
        () => (awaited.size === 0 ? 'asking every service' : `waiting for ${[...awaited].join(', ')}`),
        () =>
          examine(
            { config, services, diagnosed: diagnosed.services, deadline },
            { report: (...more) => report(...more.map(hide)), awaited },
          ),
      );
      return toOutcome(lines.map(hide));
    } finally {
      diagnosed.close();
    }
  },
});

function hideSecrets({ value }: ProgramConfig): (line: DoctorLine) => DoctorLine {
  const hide = newSecretHider(value);
  return (line) => ({ ...line, detail: hide(line.detail), advice: hide(line.advice) });
}

/** The lines are printed by then. */
function toOutcome(lines: readonly DoctorLine[]): Outcome {
  const worst = findWorstGrade(lines);
  return {
    exitCode: EXIT_CODES[worst],
    answer: { ok: worst === 'ok', worst, lines },
    text: `\n${countLines(lines)}`,
  };
}

function describeRefused(error: ConfigError): readonly DoctorLine[] {
  return error.refused.map((detail) => ({
    subject: 'configuration',
    part: '',
    grade: 'fail',
    detail,
    advice: 'repair it first: without a configuration no service can be found',
  }));
}

/** Replaces every secret of a configuration by `***`. An upstream may quote the key that it refuses. */
export function newSecretHider(configuration: unknown): (text: string) => string {
  const secrets = [...new Set(listSecrets(configuration, ''))]
    .filter((secret) => secret.length >= SECRET_LENGTH_MIN)
    .toSorted((one, other) => other.length - one.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

function listSecrets(value: unknown, name: string): readonly string[] {
  if (typeof value === 'string') {
    const inAddress = IN_ADDRESS.exec(value)?.[1]?.split(':').at(-1);
    return [...(SECRET_NAME.test(name) ? [value] : []), ...(inAddress === undefined ? [] : [inAddress])];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listSecrets(inner, Array.isArray(value) ? name : key));
}
