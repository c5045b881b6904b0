import { describeAdapterContract } from '../adapter-contract/describe-adapter-contract.ts';
import { checkFirstAttempt } from '../adapter-contract/extra-field-cases.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { loadOwnAdapter } from './load-own-adapter.ts';
import { buildFixturesPath, writeTestRecord } from './test-record.ts';

export interface TestedCase {
  readonly name: string;
  /** Undefined if the adapter keeps the guarantee. */
  readonly failure: string | undefined;
}

/** Loads an adapter, runs the contract suite over it, and writes `<name>.tested.json` next to it if all cases pass. */
export async function testOwnAdapter(
  file: string,
  show: (tested: TestedCase) => void = () => undefined,
): Promise<readonly TestedCase[]> {
  const { name, adapter, facts, text } = await loadOwnAdapter(file);
  const tested: TestedCase[] = [];
  const upstream = await openScriptedUpstream();
  try {
    await adapter.prepare({ options: {} });
    const subject = { name, adapter, fixtures: buildFixturesPath(file) };
    await checkFirstAttempt(subject);
    for (const one of describeAdapterContract(subject)) {
      const failure = await one.run(upstream).then(() => undefined, describeFailure);
      tested.push({ name: one.name, failure });
      show({ name: one.name, failure });
    }
  } finally {
    await Promise.all([upstream.close(), adapter.close()]);
  }
  if (tested.every(({ failure }) => failure === undefined)) writeTestRecord(file, text, facts);
  return tested;
}

function describeFailure(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
