import type { Json, UpstreamAnswer, UpstreamRequest } from '@reelgate/adapter-kit';
import type { ChannelAdapter, ChannelCalls, EventualSteps } from '../channel-adapter.ts';
import type { AdapterFacts } from './adapter-facts.ts';
import * as shapes from './results/result-shapes.ts';
import { list, text } from './results/shapes.ts';
import type { Shape } from './results/shapes.ts';
import type { AdapterSandbox } from './sandbox/new-sandbox.ts';

/** More than any operation may ask of an upstream. */
const TURNS_MAX = 100;
const NEEDED: readonly string[] = ['buildSubmit', 'readSubmit', 'poll', 'test'];
const NAMES = list(text());

/** The adapter of an operator, which runs in its sandbox alone. */
export interface OwnAdapter extends ChannelAdapter {
  readonly prepare: NonNullable<ChannelAdapter['prepare']>;
  /** Ends its thread. The next call starts another one. */
  readonly close: () => Promise<void>;
}

/** Returns the adapter with these facts that a sandbox has. */
export function wrapAdapter({ callbacks, ...facts }: AdapterFacts, sandbox: AdapterSandbox): OwnAdapter {
  /** The names of the operations, by the options of channels. */
  const prepared = new Map<string, readonly string[]>();
  return {
    ...facts,
    ...(callbacks === undefined ? {} : { callbacks: { ...callbacks, readId: idReader(sandbox) } }),
    prepare: async ({ options }) => {
      const key = JSON.stringify(options);
      if (!prepared.has(key)) prepared.set(key, await listCalls(sandbox, options));
    },
    close: () => sandbox.close(),
    openCalls: ({ options }) => {
      const names = prepared.get(JSON.stringify(options));
      if (names === undefined) throw new Error('the adapter was not prepared for these options');
      return wrapCalls(sandbox, options, names);
    },
  };
}

function idReader(sandbox: AdapterSandbox): NonNullable<ChannelAdapter['callbacks']>['readId'] {
  return async (body, model) => {
    const { value } = await sandbox.ask({ act: 'readId', args: [body, model] });
    return shapes.CALLBACK_ID(value, 'readId');
  };
}

async function listCalls(sandbox: AdapterSandbox, options: Json): Promise<readonly string[]> {
  const { value } = await sandbox.ask({ act: 'list', options });
  const names = NAMES(value, 'openCalls');
  const missing = NEEDED.find((name) => !names.includes(name));
  if (missing !== undefined) throw new Error(`the adapter has no ${missing}`);
  return names;
}

/** The calls of one channel. Each is a question to the sandbox, with its arguments and its result as JSON. */
function wrapCalls(sandbox: AdapterSandbox, options: Json, names: readonly string[]): ChannelCalls {
  const compute =
    <T>(name: string, shape: Shape<T>) =>
    async (...args: readonly unknown[]): Promise<T> => {
      const { value } = await sandbox.ask({ act: 'compute', options, name, args });
      return shape(value, name);
    };
  const steps =
    <T>(name: string, shape: Shape<T>) =>
    (...args: readonly unknown[]): EventualSteps<T> =>
      takeSteps(sandbox, { options, name, args }, shape);
  const optional = <Name extends string, F>(name: Name, call: F): Partial<Record<Name, F>> =>
    (names.includes(name) ? { [name]: call } : {}) as Partial<Record<Name, F>>;
  return {
    buildSubmit: compute('buildSubmit', shapes.ORDER_REQUEST),
    readSubmit: compute('readSubmit', shapes.SUBMISSION),
    poll: steps('poll', shapes.POLL_RESULT),
    test: steps('test', shapes.TESTED),
    ...optional('pollMany', steps('pollMany', shapes.POLL_RESULTS)),
    ...optional('find', steps('find', shapes.FIND_OUTCOME)),
    ...optional('list', steps('list', shapes.LISTED_WORKS)),
    ...optional('cancel', steps('cancel', shapes.CANCELLED)),
  };
}

let newestSteps = 0;

/** Drives a generator inside the sandbox. */
function takeSteps<T>(
  sandbox: AdapterSandbox,
  asked: { readonly name: string; readonly options: Json; readonly args: readonly unknown[] },
  shape: Shape<T>,
): EventualSteps<T> {
  // no other thread of this adapter has a generator of this number
  const steps = (newestSteps += 1);
  let turns = 0;
  const next = async (answer?: UpstreamAnswer): Promise<IteratorResult<UpstreamRequest, T>> => {
    const question = turns === 0 ? { act: 'start', ...asked, steps } : { act: 'resume', steps, answer };
    turns += 1;
    if (turns > TURNS_MAX) throw new Error(`${asked.name} makes more than ${TURNS_MAX} calls`);
    const { done, value } = await sandbox.ask(question);
    return done === true
      ? { done, value: shape(value, asked.name) }
      : { done: false, value: shapes.REQUEST(value, asked.name) };
  };
  return { next };
}
