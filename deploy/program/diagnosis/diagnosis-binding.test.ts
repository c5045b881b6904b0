import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { CHECK_MS_MAX, ok, newChecks } from '@reelgate/platform/diagnosis/self-checks';
import { silentLog } from '@reelgate/platform/log';
import { silenceRpcLibraries } from '@reelgate/platform/testing/partial-service';
import { TRANSPORTS, closingTransports } from '@reelgate/platform/testing/rpc-transports';
import { DiagnosisService, Grade } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { diagnosisBinding } from './diagnosis-binding.ts';

const NEVER = new Promise<never>(() => undefined);
/** Shorter than a check may take, so that the checks must end before their own bound. */
const CALLER_MS = 2500;
const openFor = closingTransports();
silenceRpcLibraries();

describe.each(TRANSPORTS)('a process that is asked over %s', (_name, open) => {
  test('answers before its caller leaves, although a check and its readiness hang', async () => {
    expect(CALLER_MS).toBeLessThan(CHECK_MS_MAX);
    const checks = newChecks();
    checks.add({ part: 'hangs', check: () => NEVER }, { part: 'works', check: async () => ok('well') });
    const binding = diagnosisBinding({
      service: 'tasks',
      checks,
      isReady: () => NEVER,
      clock: systemClock,
      log: silentLog,
      startedAt: 0,
      profiles: {
        record: () => {
          throw new Error('no profile is asked for');
        },
      },
    });
    const client = (await openFor(open, binding)).client(DiagnosisService);

    const answer = await client.diagnose({}, { timeoutMs: CALLER_MS });

    expect(answer.ready).toBe(false);
    expect(answer.findings).toMatchObject([
      { part: 'hangs', grade: Grade.FAIL, detail: expect.stringMatching(/^gave no answer within \d(\.\d)? s$/) },
      { part: 'works', grade: Grade.OK, detail: 'well' },
    ]);
  });
});
