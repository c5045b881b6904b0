import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import { describeStoreFault } from '@reelgate/platform/sql/store-checks';
import { probeStore } from '@reelgate/platform/sql/migrate-store';
import type { ProgramConfig, CalledService } from '../../program/config/program-config.ts';
import type { BookServices } from '../connect-services.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import { readStoreSettings } from '../service-stores.ts';
import { askBooks } from './ask-books.ts';
import { askChannels } from './ask-channels.ts';
import { askService } from './ask-service.ts';
import { compareClocks } from './compare-clocks.ts';
import type { ClockReading } from './compare-clocks.ts';
import { ENOUGH_MS, awaitFor, inSeconds, awaitAnswer } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import type { Audience, DoctorLine, DoctorQuestion, Report } from './doctor-line.ts';

export interface ExamineOptions {
  readonly config: ProgramConfig;
  readonly services: BookServices;
  readonly diagnosed: readonly DiagnosedService[];
  readonly deadline: Deadline;
}

/**
 * Asks everything concurrently, until the deadline, and prints each line as it comes. The result has the lines in a
 * fixed order: the configuration, the services, the clocks, the channels, the ledger.
 */
export async function examine(
  { config, services, diagnosed, deadline }: ExamineOptions,
  { report, awaited }: Audience,
): Promise<readonly DoctorLine[]> {
  const first = [
    ...describeStart(deadline),
    ...describeConfiguration(config),
    ...(diagnosed.some(({ name }) => name === 'gateway') ? [] : [withoutAdmin()]),
  ];
  report(...first);
  const audience = { report, awaited };
  const clocks: DoctorLine[] = [];
  const asking = askServices({ config, diagnosed, deadline }, audience, (...lines) => {
    clocks.push(...lines);
    report(...lines);
  });
  const channels = askAll([channelsQuestion(services, deadline)], deadline, audience);
  const begun = Promise.race([Promise.all([asking, channels]), deadline.clock.sleep(deadline.leftMs() / 2)]);
  const ledger = askAll([ledgerQuestion(services, deadline, begun)], deadline, audience);
  const ofServices = await asking;
  return [...first, ...ofServices, ...clocks, ...(await channels), ...(await ledger)];
}

async function askServices(
  { config, diagnosed, deadline }: Omit<ExamineOptions, 'services'>,
  audience: Audience,
  reportClock: Audience['report'],
): Promise<readonly DoctorLine[]> {
  const read: ClockReading[] = [];
  const questions = diagnosed.map((service): DoctorQuestion => ({
    subject: service.name,
    advice: `look at the log of ${service.name} and at its processor`,
    ask: async (_signal, report) => {
      const clocks = await askService(service, { deadline, report, reportClock });
      read.push(...clocks);
      if (clocks.length === 0 && service.name !== 'gateway') await askStore(config, service.name, deadline, report);
    },
  }));
  const lines = await askAll(questions, deadline, audience);
  reportClock(...compareClocks(read));
  return lines;
}

function channelsQuestion({ tasks }: BookServices, deadline: Deadline): DoctorQuestion {
  return {
    subject: 'channels',
    advice: 'the tasks service knows the channels: see its line',
    ask: (_signal, report) => askChannels(tasks, deadline, report),
  };
}

/**
 * The check of a large ledger occupies an embedded database, and with it a program that has all services. So it begins
 * when the services have answered, or at half of the time.
 */
function ledgerQuestion(services: BookServices, deadline: Deadline, otherAnswers: Promise<unknown>): DoctorQuestion {
  return {
    subject: 'ledger',
    advice: 'billing has the ledger: see its line; then reelgate ledger verify',
    ask: async (_signal, report) => {
      await otherAnswers;
      await askBooks(services, deadline, report);
    },
  };
}

function describeStart(deadline: Deadline): readonly DoctorLine[] {
  const leftMs = deadline.leftMs();
  if (leftMs >= ENOUGH_MS) return [];
  return [
    {
      ...{ subject: 'doctor', part: '', grade: 'warn' },
      detail: `it started so slowly that ${inSeconds(leftMs)} are left for its questions`,
      advice: 'look at the load of this machine; call again, or from another machine',
    },
  ];
}

function describeConfiguration({ warnings, file }: ProgramConfig): readonly DoctorLine[] {
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

/**
 * Asks all questions concurrently, and prints each line as it comes. A question that throws or hangs does not delay the
 * others. The result has the lines in the order of the questions.
 */
async function askAll(
  questions: readonly DoctorQuestion[],
  deadline: Deadline,
  audience: Audience,
): Promise<readonly DoctorLine[]> {
  return (await Promise.all(questions.map((question) => askOne(question, deadline, audience)))).flat();
}

async function askOne(
  { subject, advice, ask }: DoctorQuestion,
  deadline: Deadline,
  { report, awaited }: Audience,
): Promise<readonly DoctorLine[]> {
  const lines: DoctorLine[] = [];
  let isOver = false;
  const reportInTime = (...more: readonly DoctorLine[]): void => {
    if (isOver) return;
    lines.push(...more);
    report(...more);
  };
  const fail = (detail: string): void => reportInTime({ subject, part: '', grade: 'fail', detail, advice });
  awaited.add(subject);
  await awaitFor(
    deadline.clock,
    // A question reports at the deadline that it has no answer. This ends a question that does not.
    deadline.callMs(),
    (signal) => ask(signal, reportInTime).catch((error: unknown) => fail(describeError(error))),
    (waitedMs) => fail(`gave no answer within ${inSeconds(waitedMs)}`),
  );
  isOver = true;
  awaited.delete(subject);
  return lines;
}

/**
 * Looks at the store of a service that does not answer, because most starts wait for it. Tells a line only if the store
 * cannot be used from this machine.
 */
async function askStore(
  config: ProgramConfig,
  service: CalledService,
  deadline: Deadline,
  report: Report,
): Promise<void> {
  if (deadline.leftMs() === 0) return;
  const error = await awaitAnswer<unknown>(
    deadline,
    () =>
      probeStore(readStoreSettings(config, service)).then(
        () => undefined,
        (refused: unknown) => refused,
      ),
    () => undefined,
  );
  if (error === undefined) return;
  const { detail, advice = '' } = describeStoreFault(error) ?? {
    detail: describeError(error),
    advice: 'repair it first: the service waits for its store, or has ended without it',
  };
  report({ subject: service, part: 'database', grade: 'fail', detail: `seen from here, ${detail}`, advice });
}
