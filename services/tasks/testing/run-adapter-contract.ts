import { afterAll, beforeAll, test } from '@jest/globals';
import type { AdapterSubject } from '../src/channels/adapter-contract/contract-case.ts';
import { describeAdapterContract } from '../src/channels/adapter-contract/describe-adapter-contract.ts';
import { openScriptedUpstream } from '../src/channels/adapter-contract/scripted-upstream.ts';
import type { ScriptedUpstream } from '../src/channels/adapter-contract/scripted-upstream.ts';

/** Runs the contract suite of adapters, each case as a test. */
export function runAdapterContract(subject: AdapterSubject): void {
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await openScriptedUpstream();
  });
  afterAll(() => upstream.close());

  test.each(describeAdapterContract(subject).map((one) => [one.name, one] as const))('%s', async (_name, one) => {
    await one.run(upstream);
  });
}
