import type { Adapter, CallbackSignature, Json } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';
import { checkValue } from '@reelgate/platform/config/check-value';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { ADAPTER_SCHEMA } from './adapter-schema.ts';
import { OwnAdapterFault } from './own-adapter-fault.ts';
import type { AdapterSandbox } from './sandbox/new-sandbox.ts';

/** The parts of an adapter that are no functions. */
export type AdapterFacts = Omit<Adapter, 'openCalls' | 'callbacks'> & {
  /** Present if the adapter reads callbacks. */
  readonly callbacks?: { readonly signature?: CallbackSignature | undefined } | undefined;
};

/** Asks an adapter for its facts. Throws an `OwnAdapterFault`, or a `ConfigError` with the line of a wrong fact. */
export async function askForFacts(file: string, text: string, sandbox: AdapterSandbox): Promise<AdapterFacts> {
  const { value, hasOpenCalls, hasReadId } = await describeAdapter(file, sandbox);
  const facts = checkFacts(readObject(value), (keys, expected) => {
    const at = text.split('\n').findIndex((line) => line.trimStart().startsWith(`${String(keys.at(0))}:`));
    return new ConfigError(
      `${file}:${Math.max(at, 0) + 1}: ${keys.length === 0 ? 'the adapter' : keys.join('.')}: ${expected}`,
    );
  });
  if (hasOpenCalls !== true) throw new OwnAdapterFault(file, 1, 'openCalls: expected a function');
  if (facts.callbacks !== undefined && hasReadId !== true)
    throw new OwnAdapterFault(file, 1, 'callbacks.readId: expected a function');
  return facts;
}

/**
 * Returns the value as the facts of an adapter. Throws the error that `fault` builds from a place and the expected
 * value.
 */
export function checkFacts(value: Json, fault: Parameters<typeof checkValue>[2]): AdapterFacts {
  checkValue(value, ADAPTER_SCHEMA, fault, () => false);
  return value as unknown as AdapterFacts;
}

async function describeAdapter(file: string, sandbox: AdapterSandbox): Promise<Json> {
  try {
    return await sandbox.ask({ act: 'describe' });
  } catch (error) {
    throw error instanceof OwnAdapterFault ? error : new OwnAdapterFault(file, 1, (error as Error).message);
  }
}
