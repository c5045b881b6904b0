import { lookup } from 'node:dns/promises';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Grade } from '@reelgate/platform/diagnosis/self-checks';
import { reasonOf } from '@reelgate/platform/lifecycle/when-reachable';
import { isProblem } from '@reelgate/platform/problem';
import { Grade as WireGrade } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import type { DiagnoseResponse } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { PROGRAM_VERSION } from '../../program/version.ts';
import type { DiagnosedService } from '../diagnosed-services.ts';
import type { DoctorLine } from './doctor-line.ts';

/** The service bounds its checks by five seconds. */
const DIAGNOSE_MS_MAX = 10_000;
/** A name with more addresses is not asked for each. */
const REPLICAS_MAX = 8;

/** The clock of a process against that of this machine. */
export interface ClockReading {
  readonly subject: string;
  /** Ahead of this machine; negative: behind it. */
  readonly aheadMs: number;
  /** Half the time that the answer was on its way. */
  readonly uncertainMs: number;
}

export interface Diagnosed {
  readonly lines: readonly DoctorLine[];
  readonly clocks: readonly ClockReading[];
}

const GRADES: Readonly<Record<WireGrade, Grade>> = {
  [WireGrade.UNSPECIFIED]: 'warn',
  [WireGrade.OK]: 'ok',
  [WireGrade.WARN]: 'warn',
  [WireGrade.FAIL]: 'fail',
};

/** Asks a service, and as many of its replicas as its name has addresses. Calls go to the replicas in turn. */
export async function askService(service: DiagnosedService, clock: Clock, signal: AbortSignal): Promise<Diagnosed> {
  const replicas = await replicasOf(service.hosts);
  const answers = new Map<string, Diagnosed>();
  // Several calls can meet the same replica, so there are more calls than replicas.
  const calls = replicas === 1 ? 1 : 2 * replicas;
  const refusals: DoctorLine[] = [];
  for (let call = 0; call < calls && answers.size < replicas; call += 1) {
    const begunAt = clock.now();
    try {
      const answer = await service.client.diagnose({}, { timeoutMs: DIAGNOSE_MS_MAX, signal });
      answers.set(answer.process, diagnosed(answer, clock.now(), begunAt));
    } catch (error) {
      refusals.push(notAnswered(service, error));
      break;
    }
  }
  const found = [...answers.values()];
  return {
    lines: [...found.flatMap(({ lines }) => lines), ...refusals],
    clocks: found.flatMap(({ clocks }) => clocks),
  };
}

async function replicasOf(hosts: readonly string[]): Promise<number> {
  if (hosts.length !== 1) return Math.min(Math.max(1, hosts.length), REPLICAS_MAX);
  const addresses = await lookup(hosts[0] ?? '', { all: true }).catch(() => []);
  const ofOneFamily = addresses.filter(({ family }) => family === addresses[0]?.family);
  return Math.min(Math.max(1, ofOneFamily.length), REPLICAS_MAX);
}

function diagnosed(answer: DiagnoseResponse, endedAt: number, begunAt: number): Diagnosed {
  const { service, process, version, ready, findings, at, tookMs } = answer;
  const subject = `${service} (${process})`;
  const onWayMs = Math.max(0, endedAt - begunAt - Number(tookMs));
  return {
    lines: [
      aliveLine(subject, {
        ready,
        version,
        startedAt: answer.startedAt === undefined ? 0 : timestampMs(answer.startedAt),
      }),
      ...findings.map(({ part, grade, detail, advice }) => ({
        subject,
        part,
        grade: GRADES[grade],
        detail,
        // A check that hangs or throws knows no advice.
        advice: advice === '' && grade !== WireGrade.OK ? `see the other lines and the log of ${service}` : advice,
      })),
    ],
    clocks:
      at === undefined
        ? []
        : [
            {
              subject,
              aheadMs: Math.round(timestampMs(at) - (endedAt - onWayMs / 2)),
              uncertainMs: Math.ceil(onWayMs / 2),
            },
          ],
  };
}

interface Alive {
  readonly ready: boolean;
  readonly version: string;
  readonly startedAt: number;
}

function aliveLine(subject: string, { ready, version, startedAt }: Alive): DoctorLine {
  const since = new Date(startedAt).toISOString().slice(0, 19);
  const line = { subject, part: '', detail: `release ${version}, up since ${since}Z` };
  if (!ready)
    return {
      ...line,
      grade: 'fail',
      detail: `${line.detail}; it is not ready and gets no work`,
      advice: 'see its other lines for what it lacks, and its log',
    };
  return version === PROGRAM_VERSION
    ? { ...line, grade: 'ok', advice: '' }
    : {
        ...line,
        grade: 'warn',
        detail: `${line.detail}; this command line is of release ${PROGRAM_VERSION}`,
        advice: 'finish the upgrade, or use the command line of that release',
      };
}

/** Why a service did not answer, and what helps. */
function notAnswered({ name, address }: DiagnosedService, error: unknown): DoctorLine {
  const line = { subject: name, part: '', grade: 'fail' } as const;
  if (isProblem(error, 'invalid_caller_key'))
    return {
      ...line,
      detail: `the process at ${address} does not know the key of this command line`,
      advice: 'give this command line the signing_key of the services, from the same configuration',
    };
  if (isProblem(error) && error.kind !== 'unavailable')
    return {
      ...line,
      detail: `refused: ${error.message}`,
      advice: 'use the release of the services for this command line',
    };
  const why = error instanceof Error && error.cause !== undefined ? `: ${reasonOf(error.cause)}` : '';
  return {
    ...line,
    detail: `does not answer at ${address}${why}`,
    advice: `start it; if it runs, its log names what its start waits for, such as its database; then check the address`,
  };
}
