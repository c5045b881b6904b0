import assert from 'node:assert/strict';
import { assertSame, benchCase, newSignal, NOWHERE } from './contract-bench.ts';
import type { Contract } from './contract-bench.ts';
import { readCases } from './contract-case.ts';
import type { CancelCase, ContractCase, ListCase, TestCase } from './contract-case.ts';

/** The most pages of a list that an upstream can cause to be read. */
const PAGES_SEEN_MAX = 100;
/** The case of an API without a list, or without a cancel: no call is sent. */
const NO_LIST: readonly ListCase[] = [
  { name: 'nothing, without a call, from an API without a list', since: 0, answers: [], requests: [] },
];
const NO_CANCEL: readonly CancelCase[] = [
  { name: 'an API without a cancel, without a call', answers: [], requests: [], confirmed: false },
];

export function listListCases(contract: Contract): readonly ContractCase[] {
  const lists = readCases<ListCase>(contract.subject, 'lists');
  return [
    ...(lists.length > 0 ? lists : NO_LIST).map(({ name, since, answers, requests, works }) =>
      benchCase(contract, `list reads ${name}`, async ({ upstream, open, assertMade }) => {
        upstream.script(...answers);

        assertSame(await open().list(since, newSignal()), works);
        assertMade(requests);
      }),
    ),
    benchCase(contract, 'list gives up on an upstream with endless pages', async ({ upstream, open }) => {
      const page = { status: 200, json: { items: [{ id: '1', created_at: 2_000_000_000 }], total: 1_000_000 } };
      upstream.script(...Array.from({ length: 2 * PAGES_SEEN_MAX }, () => page));

      assert.equal(await open().list(0, newSignal()), undefined);
      assert.ok(upstream.requests.length < PAGES_SEEN_MAX);
    }),
    benchCase(
      contract,
      'list is unreadable when no server listens, or without an answer in time',
      async ({ open, leaveUnanswered }) => {
        assert.equal(await leaveUnanswered((channel) => channel.list(0, newSignal())), undefined);
        assert.equal(await open({ baseUrl: NOWHERE }).list(0, newSignal()), undefined);
      },
    ),
  ];
}

export function listCancelCases(contract: Contract): readonly ContractCase[] {
  const { polledId } = contract;
  const cancels = readCases<CancelCase>(contract.subject, 'cancels');
  return [
    ...(cancels.length > 0 ? cancels : NO_CANCEL).map(({ name, answers, requests, confirmed }) =>
      benchCase(contract, `cancel understands ${name}`, async ({ upstream, open, assertMade }) => {
        upstream.script(...answers);

        assert.equal(await open().cancel(polledId, newSignal()), confirmed);
        assertMade(requests);
      }),
    ),
    benchCase(
      contract,
      'cancel is not confirmed when no server listens, or without an answer in time',
      async ({ open, leaveUnanswered }) => {
        assert.equal(await leaveUnanswered((channel) => channel.cancel(polledId, newSignal())), false);
        assert.equal(await open({ baseUrl: NOWHERE }).cancel(polledId, newSignal()), false);
      },
    ),
  ];
}

export function listTestCases(contract: Contract): readonly ContractCase[] {
  return [
    ...readCases<TestCase>(contract.subject, 'tests').map(({ name, answer, request, tested }) =>
      benchCase(contract, `test understands ${name}`, async ({ upstream, open, assertMade }) => {
        upstream.script(answer);

        assertSame(await open().test(newSignal()), tested);
        assertMade([request]);
      }),
    ),
    benchCase(contract, 'test fails when no server listens', async ({ open }) => {
      const { ok, detail } = await open({ baseUrl: NOWHERE }).test(newSignal());

      assert.equal(ok, false);
      assert.notEqual(detail, '');
    }),
  ];
}
