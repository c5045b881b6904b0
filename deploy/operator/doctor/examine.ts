import type { Clock } from '@reelgate/platform/clock';
import type { ProgramConfig } from '../../program/config/program-config.ts';
import type { Services } from '../connect-services.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { askAll } from './ask-all.ts';
import { BOOKS_MS_MAX, askBooks } from './ask-books.ts';
import { askChannels } from './ask-channels.ts';
import { askService } from './ask-service.ts';
import type { ClockReading } from './ask-service.ts';
import { compareClocks } from './compare-clocks.ts';
import type { DoctorLine, DoctorQuestion } from './doctor-line.ts';

/** A service with several replicas is asked one after the other. */
const SERVICE_MS_MAX = 30_000;
const CHANNELS_MS_MAX = 40_000;

export interface Examined {
  readonly config: Pick<ProgramConfig, 'warnings' | 'file'>;
  readonly services: Pick<Services, 'tasks' | 'accounts'>;
  readonly diagnosed: readonly DiagnosedService[];
  readonly clock: Clock;
}

/** Asks everything at once, each question within its time. The lines stand in a fixed order. */
export async function examine({ config, services, diagnosed, clock }: Examined): Promise<readonly DoctorLine[]> {
  const clocks: ClockReading[] = [];
  const ofServices = diagnosed.map((service): DoctorQuestion => ({
    subject: service.name,
    msMax: SERVICE_MS_MAX,
    advice: `look at the log of ${service.name} and at its processor`,
    ask: async (signal) => {
      const { lines, clocks: read } = await askService(service, clock, signal);
      clocks.push(...read);
      return lines;
    },
  }));
  const others: readonly DoctorQuestion[] = [
    {
      subject: 'channels',
      msMax: CHANNELS_MS_MAX,
      advice: 'the tasks service knows the channels: see its line',
      ask: (signal) => askChannels(services.tasks, signal),
    },
    {
      subject: 'ledger',
      msMax: BOOKS_MS_MAX,
      advice: 'billing has the ledger: see its line; a long ledger takes longer: reelgate ledger verify',
      ask: (signal) => askBooks(services, signal),
    },
  ];
  const [first, rest] = await Promise.all([askAll(ofServices, clock), askAll(others, clock)]);
  return [
    ...ofConfiguration(config),
    ...(diagnosed.some(({ name }) => name === 'gateway') ? [] : [withoutAdmin()]),
    ...first,
    ...compareClocks(clocks),
    ...rest,
  ];
}

function ofConfiguration({ warnings, file }: Examined['config']): readonly DoctorLine[] {
  const line = { subject: 'configuration', part: '' } as const;
  if (warnings.length === 0)
    return [{ ...line, grade: 'ok', detail: `${file.files.join(', ')} has no warning`, advice: '' }];
  return warnings.map((detail) => ({ ...line, grade: 'warn', detail, advice: 'see deploy/configuration.md' }));
}

function withoutAdmin(): DoctorLine {
  return {
    subject: 'gateway',
    part: '',
    grade: 'warn',
    detail: 'was not asked: the configuration names no admin port',
    advice: 'set gateway.admin, or name the port with --gateway',
  };
}
