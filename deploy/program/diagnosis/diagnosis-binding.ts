import { hostname } from 'node:os';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { CHECK_MS_MAX, runChecks } from '@reelgate/platform/diagnosis/self-checks';
import type { Finding, OpenChecks } from '@reelgate/platform/diagnosis/self-checks';
import { PROFILE_SECONDS } from '@reelgate/platform/diagnosis/record-profile';
import type { ProfileOrder, ProfileRecorder } from '@reelgate/platform/diagnosis/record-profile';
import type { Clock } from '@reelgate/platform/clock';
import type { ReadyCheck } from '@reelgate/platform/lifecycle/readiness';
import type { Log } from '@reelgate/platform/log';
import { workMsWithin } from '@reelgate/platform/passed-deadline';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { DiagnosisService, Grade, ProfileKind } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import type { ServiceName } from '../config/program-config.ts';
import { PROGRAM_VERSION } from '../version.ts';

export interface DiagnosisOptions {
  readonly service: ServiceName;
  readonly checks: OpenChecks;
  readonly isReady: ReadyCheck;
  readonly clock: Clock;
  readonly log: Log;
  readonly startedAt: number;
  readonly profiles: ProfileRecorder;
}

const GRADES = deriveValues(Grade);
/** Names this process among the replicas. */
const PROCESS = `${hostname()}:${process.pid}`;

/** Binds the RPCs that show this process to an operator, in addition to the RPCs of its service. */
export function diagnosisBinding(options: DiagnosisOptions): Binding {
  const { service, checks, isReady, clock, startedAt } = options;
  return bind(DiagnosisService, {
    diagnose: async (_request, { signal }) => {
      const begun = clock.now();
      // A check that hangs ends before the call does, so that the caller receives the results of all others.
      const checkMsMax = workMsWithin(signal, CHECK_MS_MAX);
      const [findings, ready] = await Promise.all([
        runChecks(checks.all(), clock, checkMsMax),
        isReadyWithin(isReady, clock, checkMsMax),
      ]);
      return {
        service,
        process: PROCESS,
        version: PROGRAM_VERSION,
        startedAt: timestampFromMs(startedAt),
        ready,
        findings: findings.map(toWireFinding),
        tookMs: BigInt(Math.max(0, clock.now() - begun)),
        at: timestampFromMs(clock.now()),
      };
    },
    profile: ({ kind, seconds }, { caller, signal }) =>
      streamProfile(options, toProfileOrder(kind, seconds), caller.name, signal),
  });
}

/** A readiness check that hangs counts as not ready. */
async function isReadyWithin(isReady: ReadyCheck, clock: Clock, msMax: number): Promise<boolean> {
  const ended = new AbortController();
  try {
    return await Promise.race([isReady(), clock.sleep(msMax, ended.signal).then(() => false)]);
  } finally {
    ended.abort();
  }
}

async function* streamProfile(
  { service, log, profiles }: DiagnosisOptions,
  order: ProfileOrder,
  caller: string,
  signal: AbortSignal,
): AsyncGenerator<{ process?: string; data: Uint8Array }> {
  log.warn({ caller, service, ...order }, 'a caller asks for a profile of this process');
  let name: { process?: string } = { process: PROCESS };
  for await (const data of profiles.record(order, signal)) {
    yield { ...name, data };
    name = {};
  }
}

function toProfileOrder(kind: ProfileKind, seconds: number): ProfileOrder {
  return kind === ProfileKind.HEAP
    ? { kind: 'heap' }
    : { kind: 'cpu', seconds: seconds === 0 ? PROFILE_SECONDS.default : seconds };
}

function toWireFinding({ part, grade, detail, advice = '' }: Finding) {
  return { part, grade: GRADES[grade], detail, advice };
}
