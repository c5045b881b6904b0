import assert from 'node:assert/strict';
import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { PollResult } from '../channel.ts';
import {
  assertHolds,
  assertSame,
  assertSameBut,
  benchCase,
  BROKEN_ANSWERS,
  newSignal,
  NOWHERE,
  pureCase,
} from './contract-bench.ts';
import type { Bench, Contract } from './contract-bench.ts';
import { listAnswers, readCases, takeFirst } from './contract-case.ts';
import type { ContractCase, FindCase, Phase, PollCase, PollManyCase } from './contract-case.ts';

const PHASES: readonly Phase[] = ['queued', 'running', 'succeeded', 'failed', 'unrecognised'];
const NOTHING = { found: false, gone: false };
/** An upstream that can be searched knows each attempt by then. */
const DAY_MS = 86_400_000;
const UPSTREAM_FAULT = { status: 500, text: 'oops' };

export function listPollCases(contract: Contract): readonly ContractCase[] {
  const { subject, polledId, lacksPhases } = contract;
  const polls = readCases<PollCase>(subject, 'polls');
  return [
    ...polls.map((one) => pollCase(contract, one)),
    pureCase('poll has a recorded case for each phase that the upstream has', () => {
      const recorded = polls.flatMap(({ polled }) => (polled.found ? [polled.report.phase] : []));

      assertSame(
        PHASES.filter((phase) => !recorded.includes(phase)),
        lacksPhases,
      );
    }),
    benchCase(contract, 'poll encodes the id so that the URL cannot point elsewhere', async ({ upstream, open }) => {
      upstream.script({ status: 200, json: {} });

      const id = '../../admin?x=1#y';
      await open().poll(id, newSignal());

      const { path: asked, body } = takeFirst(upstream.requests, 'one request for each poll');
      if (body === undefined) assert.match(asked, /%2F.*admin%3Fx%3D1%23y($|[/?&])/);
      else {
        assert.doesNotMatch(asked, /admin/);
        assert.ok(JSON.stringify(body).includes(id));
      }
    }),
    ...BROKEN_ANSWERS.map((answer) =>
      benchCase(contract, `poll reports nothing about the work after ${answer}`, async ({ upstream, open }) => {
        upstream.script(answer);

        assertHolds(await open().poll(polledId, newSignal()), NOTHING);
      }),
    ),
    benchCase(
      contract,
      'poll reports nothing about the work after a fault of the upstream',
      async ({ upstream, open }) => {
        upstream.script(UPSTREAM_FAULT);

        assertHolds(await open().poll(polledId, newSignal()), NOTHING);
      },
    ),
    benchCase(
      contract,
      'poll reports nothing about the work without an answer in time, or when no server listens',
      async ({ open, leaveUnanswered }) => {
        assertHolds(await leaveUnanswered((channel) => channel.poll(polledId, newSignal())), NOTHING);
        assertHolds(await open({ baseUrl: NOWHERE }).poll(polledId, newSignal()), NOTHING);
      },
    ),
  ];
}

function pollCase(contract: Contract, one: PollCase): ContractCase {
  return benchCase(contract, `poll understands ${one.name}`, async (bench) => {
    const { request, requests = request === undefined ? undefined : [request], polled } = one;
    const { upstream } = bench;
    upstream.script(...listAnswers(one));

    assertPolled(bench, await bench.open().poll(contract.polledId, newSignal()), polled);

    bench.assertCredential();
    if (requests !== undefined) bench.assertMade(requests);
    else
      assertSame(
        upstream.requests.map(({ method, body }) => ({ method, body })),
        [{ method: 'GET' }],
      );
  });
}

/** The form of a fixture: our address as `{base}`, a credential as it prints. */
function assertPolled({ base }: Bench, seen: PollResult | undefined, expected: PollResult): void {
  const recorded = JSON.parse(JSON.stringify(seen ?? {}).replaceAll(base, '{base}')) as object;
  if (expected.found) assertSame(recorded, expected);
  else assertSameBut('error', recorded, expected);
}

/** The cases of `pollMany`. There are no cases if the adapter reads one work at a time. */
export function listPollManyCases(contract: Contract): readonly ContractCase[] {
  const { subject, calls, polledId } = contract;
  if (calls.pollMany === undefined) return [];
  return [
    ...readCases<PollManyCase>(subject, 'polls-many').map(({ name, upstreamIds, answers, requests, polled }) =>
      benchCase(contract, `a poll of several works understands ${name}`, async (bench) => {
        bench.upstream.script(...answers);

        const seen = await bench.open().pollMany(upstreamIds, newSignal());

        assertSame(Object.keys(polled), upstreamIds);
        for (const [id, expected] of Object.entries(polled)) assertPolled(bench, seen.get(id), expected);
        bench.assertMade(requests);
      }),
    ),
    benchCase(
      contract,
      'a poll of several works takes none for gone after a fault of the upstream',
      async ({ upstream, open }) => {
        upstream.script(UPSTREAM_FAULT);

        assertHolds((await open().pollMany([polledId], newSignal())).get(polledId), NOTHING);
      },
    ),
    pureCase('a poll of several works is declared with its bound', () =>
      assert.ok((subject.adapter.pollManyMax ?? 0) > 1, 'pollManyMax is above 1'),
    ),
  ];
}

/** The cases of `find`. There are no cases if the upstream has no search. */
export function listFindCases(contract: Contract): readonly ContractCase[] {
  const { subject, calls } = contract;
  if (calls.find === undefined) return [];
  const finds = readCases<FindCase>(subject, 'finds');
  const { lost: anyLost, now: anyNow } = takeFirst(finds, 'a case in finds.json');
  return [
    ...finds.map(({ name, lost, now, answers, requests, found }) =>
      benchCase(contract, `a search by key understands ${name}`, async ({ upstream, open, assertMade }) => {
        upstream.script(...answers);

        assertSameBut('why', await open({}, fixClock(now)).find(lost, newSignal()), found);
        assertMade(requests);
      }),
    ),
    benchCase(contract, 'a search by key cannot know after a fault of the upstream', async ({ upstream, open }) => {
      for (const now of [anyNow, anyLost.endedAt + DAY_MS]) {
        upstream.script(UPSTREAM_FAULT);

        assertHolds(await open({}, fixClock(now)).find(anyLost, newSignal()), { outcome: 'cannot know' });
      }
    }),
    ...BROKEN_ANSWERS.map((answer) =>
      benchCase(contract, `a search by key cannot know after ${answer}`, async ({ upstream, open }) => {
        upstream.script(answer);

        assertHolds(await open().find(anyLost, newSignal()), { outcome: 'cannot know' });
      }),
    ),
  ];
}

/** The system clock, at another time of day: its waits are real. */
function fixClock(now: number): Clock {
  return { ...systemClock, now: () => now };
}
