import { systemClock } from '@reelgate/platform/clock';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { RefusedConfig } from '../../program/config/check-config.ts';
import { readProgramConfig } from '../../program/config/program-config.ts';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import { defineCommand, noWords } from '../command.ts';
import type { Outcome } from '../command.ts';
import { connectDiagnosed } from '../diagnosed-services.ts';
import { worstOf } from '../doctor/doctor-line.ts';
import type { DoctorLine } from '../doctor/doctor-line.ts';
import { secretsHidden } from '../doctor/hide-secrets.ts';
import { linesAsText } from '../doctor/lines-as-text.ts';
import { examine } from '../doctor/examine.ts';
import { whileShowing } from '../while-showing.ts';

const EXIT_CODES = { ok: 0, warn: 1, fail: 2 } as const;

export const doctor = defineCommand({
  summary: 'say what is wrong with services, stores, channels, clocks and books; exit code 1: warnings, 2: failures',
  words: '',
  options: {
    gateway: {
      value: 'HOST:PORT',
      means: 'the admin port of the gateway; default: gateway.admin of the configuration',
    },
  },
  example: 'doctor',
  run: async ({ words, options, environment, services, terminal }) => {
    noWords(words);
    let config: ProgramConfig;
    try {
      config = readProgramConfig(environment);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return outcomeOf(refusedLines(error));
    }
    const diagnosed = connectDiagnosed(config, options.gateway);
    try {
      const lines = await whileShowing(terminal, 'asking every service', () =>
        examine({ config, services, diagnosed: diagnosed.services, clock: systemClock }),
      );
      return outcomeOf(hidden(lines, config));
    } finally {
      diagnosed.close();
    }
  },
});

function hidden(lines: readonly DoctorLine[], { value }: Pick<ProgramConfig, 'value'>): readonly DoctorLine[] {
  const hide = secretsHidden(value);
  return lines.map((line) => ({ ...line, detail: hide(line.detail), advice: hide(line.advice) }));
}

function outcomeOf(lines: readonly DoctorLine[]): Outcome {
  const worst = worstOf(lines);
  return {
    exitCode: EXIT_CODES[worst],
    answer: { ok: worst === 'ok', worst, lines },
    text: linesAsText(lines),
  };
}

function refusedLines(error: ConfigError): readonly DoctorLine[] {
  const refused = error instanceof RefusedConfig ? error.refused : [error.message];
  return refused.map((detail) => ({
    subject: 'configuration',
    part: '',
    grade: 'fail',
    detail,
    advice: 'mend it first: without a configuration no service can be found',
  }));
}
