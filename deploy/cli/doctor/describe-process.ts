import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { Grade as WireGrade } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import type { DiagnoseResponse } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { PROGRAM_VERSION } from '../../program/version.ts';
import type { ClockReading } from './compare-clocks.ts';
import type { DoctorLine } from './doctor-line.ts';

const GRADES = deriveWords(WireGrade, 'warn');

export interface DescribedProcess {
  /** The process, among the replicas of its service. */
  readonly process: string;
  readonly lines: readonly DoctorLine[];
  /** Undefined if the process did not report its time. */
  readonly clock: ClockReading | undefined;
}

/** Turns the answer of a process about itself into lines, and reads its clock. */
export function describeProcess(answer: DiagnoseResponse, begunAt: number, endedAt: number): DescribedProcess {
  const { service, process, findings, at, tookMs } = answer;
  const subject = `${service} (${process})`;
  const onWayMs = Math.max(0, endedAt - begunAt - Number(tookMs));
  return {
    process,
    lines: [
      describeRelease(subject, answer),
      ...findings.map(({ part, grade, detail, advice }) => ({
        subject,
        part,
        grade: GRADES[grade],
        detail,
        // A check that hangs or throws may know no advice.
        advice: advice === '' && grade !== WireGrade.OK ? `see the other lines and the log of ${service}` : advice,
      })),
    ],
    clock:
      at === undefined
        ? undefined
        : {
            subject,
            aheadMs: Math.round(timestampMs(at) - (endedAt - onWayMs / 2)),
            uncertainMs: Math.ceil(onWayMs / 2),
          },
  };
}

function describeRelease(subject: string, { ready, version, startedAt }: DiagnoseResponse): DoctorLine {
  const since = new Date(startedAt === undefined ? 0 : timestampMs(startedAt)).toISOString().slice(0, 19);
  const line = { subject, part: '', detail: `release ${version}, up since ${since}Z` };
  if (!ready)
    return {
      ...line,
      grade: 'fail',
      detail: `${line.detail}; it is not ready and gets no work`,
      advice: 'see its other lines and its log for the missing parts',
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
