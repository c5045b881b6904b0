import assert from 'node:assert/strict';
import { assertHolds, assertSameBut, benchCase, BROKEN_ANSWERS, newSignal, NOWHERE } from './contract-bench.ts';
import type { Contract } from './contract-bench.ts';
import { readCases } from './contract-case.ts';
import type { ContractCase, SubmitAnswerCase, SubmitRequestCase } from './contract-case.ts';

const UNKNOWN = { outcome: 'unknown' };
const FAULT_OF_CHANNEL = { outcome: 'refused', fault: 'channel' };

export function listSubmitCases(contract: Contract): readonly ContractCase[] {
  const { subject } = contract;
  return [
    ...readCases<SubmitRequestCase>(subject, 'submit-requests').map((one) => requestCase(contract, one)),
    ...readCases<SubmitAnswerCase>(subject, 'submit-answers').map((one) => answerCase(contract, one)),
    ...listFaultCases(contract),
  ];
}

function requestCase(
  contract: Contract,
  { name, attempt, request, contentType = 'application/json' }: SubmitRequestCase,
): ContractCase {
  return benchCase(contract, `submit sends ${name} once, in exactly the format of the upstream`, async (bench) => {
    bench.upstream.script({ status: 200, json: {} });

    await bench.open().submit(attempt, newSignal());

    bench.assertMade([request]);
    const headers = bench.assertCredential();
    assert.ok(String(headers['content-type']).includes(contentType));
  });
}

function answerCase(contract: Contract, { name, answer, submission }: SubmitAnswerCase): ContractCase {
  return benchCase(contract, `submit understands ${name}`, async ({ upstream, open }) => {
    upstream.script(answer);

    const { status, ...outcome } = await open().submit(contract.attempt, newSignal());

    assertSameBut('error', outcome, submission);
    assert.equal(status, typeof answer === 'string' ? undefined : answer.status);
    assert.equal(upstream.requests.length, 1);
  });
}

function listFaultCases(contract: Contract): readonly ContractCase[] {
  const { attempt } = contract;
  return [
    benchCase(contract, 'submit does not change the attempt', async ({ upstream, open }) => {
      upstream.script({ status: 200, json: {} });

      assertHolds(await open().submit(freezeDeeply(structuredClone(attempt)), newSignal()), UNKNOWN);
      assert.equal(upstream.requests.length, 1);
    }),
    benchCase(
      contract,
      'submit is the fault of the channel when no server listens, because nothing was sent',
      async ({ open }) => {
        assertHolds(await open({ baseUrl: NOWHERE }).submit(attempt, newSignal()), FAULT_OF_CHANNEL);
      },
    ),
    benchCase(contract, 'submit is the fault of the channel when the host name is unknown', async ({ open }) => {
      const channel = open({ baseUrl: 'http://upstream.invalid' });

      assertHolds(await channel.submit(attempt, newSignal()), FAULT_OF_CHANNEL);
    }),
    ...BROKEN_ANSWERS.map((answer) =>
      benchCase(
        contract,
        `submit is an unknown outcome after ${answer}, because the upstream has read it`,
        async ({ upstream, open }) => {
          upstream.script(answer);

          assertHolds(await open().submit(attempt, newSignal()), UNKNOWN);
          assert.equal(upstream.requests.length, 1);
        },
      ),
    ),
    benchCase(
      contract,
      'submit is an unknown outcome without an answer in time',
      async ({ upstream, leaveUnanswered }) => {
        assertHolds(await leaveUnanswered((channel) => channel.submit(attempt, newSignal())), UNKNOWN);
        assert.equal(upstream.requests.length, 1);
      },
    ),
    benchCase(contract, 'submit is an unknown outcome when it is aborted', async ({ upstream, open }) => {
      upstream.script('hang');
      const leaving = new AbortController();

      const submission = open().submit(attempt, leaving.signal);
      await Promise.race([submission, upstream.waitForRequest()]);
      leaving.abort();

      assertHolds(await submission, UNKNOWN);
    }),
  ];
}

/** Freezes a value deeply: a later write to any part of it throws. */
function freezeDeeply<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeeply);
  }
  return value;
}
