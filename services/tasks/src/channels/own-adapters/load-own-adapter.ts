import path from 'node:path';
import type { Adapter, Calls, Json, Steps, UpstreamAnswer, UpstreamRequest } from '@reelgate/adapter-kit';
import { readObject } from '@reelgate/adapter-kit/kit';
import { readBoundedText, readErrorCode } from '@reelgate/platform/config/bounded-text';
import { checkValue } from '@reelgate/platform/config/check-value';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { findNameFault } from './adapter-name.ts';
import { ADAPTER_SCHEMA } from './adapter-schema.ts';
import { openAdapterContext } from './open-adapter-context.ts';
import type { AdapterContext } from './open-adapter-context.ts';
import { OwnAdapterFault, countLine } from './own-adapter-fault.ts';
import { checkTestRecord, hashText } from './test-record.ts';

const FILE_BYTES_MAX = 512 * 1024;
/** More than any operation may ask of an upstream. */
const TURNS_MAX = 100;
const NEEDED: readonly string[] = ['buildSubmit', 'readSubmit', 'poll', 'test'];

export interface OwnAdapter {
  /** The base name of its file. */
  readonly name: string;
  readonly adapter: Adapter;
  /** The text that was loaded. */
  readonly text: string;
}

/** An adapter that has passed its tests as it is. */
export interface TestedAdapter {
  /** The name that the configuration of a channel uses. */
  readonly name: string;
  readonly file: string;
  /** Of its text. */
  readonly sha256: string;
  readonly adapter: Adapter;
}

/** Loads the adapter of an operator, and refuses one that has not passed its tests. Throws an `OwnAdapterFault`. */
export function loadTestedAdapter(file: string): TestedAdapter {
  const { name, adapter, text } = loadOwnAdapter(file);
  checkTestRecord(file, text);
  return { name, file, sha256: hashText(text), adapter };
}

/** Loads the adapter of an operator, tested or not. Throws an `OwnAdapterFault`. */
export function loadOwnAdapter(file: string): OwnAdapter {
  const name = path.basename(file, '.ts');
  const fault = file.endsWith('.ts') ? findNameFault(name) : 'expected a name that ends with .ts';
  if (fault !== undefined) throw new OwnAdapterFault(file, 1, fault);
  const text = readAdapterText(file);
  return { name, adapter: wrapAdapter(file, text, openAdapterContext(file, text)), text };
}

function readAdapterText(file: string): string {
  try {
    return readBoundedText(file, FILE_BYTES_MAX).text;
  } catch (error) {
    throw new OwnAdapterFault(file, 1, `cannot be read (${readErrorCode(error)})`);
  }
}

/** The adapter of a context as an ordinary one. */
function wrapAdapter(file: string, text: string, context: AdapterContext): Adapter {
  const { value, hasOpenCalls, hasReadId } = describeAdapter(file, context);
  const facts = readObject(value);
  checkValue(
    facts,
    ADAPTER_SCHEMA,
    (keys, expected) => {
      const line = countLine(text, text.search(new RegExp(`^ *${String(keys.at(0))}:`, 'm')));
      return new ConfigError(`${file}:${line}: ${keys.length === 0 ? 'the adapter' : keys.join('.')}: ${expected}`);
    },
    () => false,
  );
  if (hasOpenCalls !== true) throw new OwnAdapterFault(file, 1, 'openCalls: expected a function');
  const { callbacks, ...rest } = facts as unknown as Omit<Adapter, 'openCalls'>;
  if (callbacks !== undefined && hasReadId !== true)
    throw new OwnAdapterFault(file, 1, 'callbacks.readId: expected a function');
  return {
    ...rest,
    ...(callbacks === undefined ? {} : { callbacks: { ...callbacks, readId: idReader(context) } }),
    openCalls: ({ options }) => wrapCalls(context, options),
  };
}

function describeAdapter(file: string, context: AdapterContext): Json {
  try {
    return context.ask({ act: 'describe' });
  } catch (error) {
    throw new OwnAdapterFault(file, 1, (error as Error).message);
  }
}

function idReader(context: AdapterContext): NonNullable<Adapter['callbacks']>['readId'] {
  return (body, model) => {
    const { value } = context.ask({ act: 'readId', args: [body, model] });
    return typeof value === 'string' ? value : undefined;
  };
}

/** The calls of one channel. Each is a question to the context, with its arguments and its result as JSON. */
function wrapCalls(context: AdapterContext, options: Json): Calls {
  const listed = context.ask({ act: 'list', options })['value'] as readonly string[];
  const missing = NEEDED.find((name) => !listed.includes(name));
  if (missing !== undefined) throw new Error(`the adapter has no ${missing}`);
  const compute =
    (name: string, isRight: (value: Json) => boolean) =>
    (...args: readonly unknown[]): never => {
      const { value } = context.ask({ act: 'compute', options, name, args });
      if (!isRight(readObject(value))) throw new Error(`${name} returned ${JSON.stringify(value)}`);
      return value as never;
    };
  const steps =
    (name: string, isRight: (value: unknown) => boolean) =>
    (...args: readonly unknown[]): Steps<never> =>
      runSteps(context, { options, name, args }, isRight);
  const optional = <F>(name: string, call: F): Record<string, F> => (listed.includes(name) ? { [name]: call } : {});
  return {
    buildSubmit: compute('buildSubmit', (value) => typeof value['unfit'] === 'string' || isRequest(value)),
    readSubmit: compute('readSubmit', ({ outcome }) => typeof outcome === 'string'),
    poll: steps('poll', isPollResult),
    test: steps('test', (value) => typeof readObject(value)['ok'] === 'boolean'),
    ...optional(
      'pollMany',
      steps('pollMany', (value) => Object.values(readObject(value)).every(isPollResult)),
    ),
    ...optional(
      'find',
      steps('find', (value) => typeof readObject(value)['outcome'] === 'string'),
    ),
    ...optional(
      'list',
      steps('list', (value) => value === undefined || Array.isArray(value)),
    ),
    ...optional(
      'cancel',
      steps('cancel', (value) => typeof value === 'boolean'),
    ),
  };
}

/** Drives a generator inside the context from a generator outside. */
function* runSteps(
  context: AdapterContext,
  asked: { readonly name: string; readonly options: Json; readonly args: readonly unknown[] },
  isRight: (value: unknown) => boolean,
): Steps<never> {
  let turn = context.ask({ act: 'start', ...asked });
  for (let turns = 0; turn['done'] !== true; turns += 1) {
    const { id, value } = turn;
    if (turns >= TURNS_MAX) throw new Error(`${asked.name} makes more than ${TURNS_MAX} calls`);
    if (!isRequest(readObject(value))) throw new Error(`${asked.name} yielded ${JSON.stringify(value)}`);
    const answer: UpstreamAnswer = yield value as UpstreamRequest;
    turn = context.ask({ act: 'resume', id, answer });
  }
  if (!isRight(turn['value'])) throw new Error(`${asked.name} returned ${JSON.stringify(turn['value'])}`);
  return turn['value'] as never;
}

function isRequest({ method, path: asked }: Json): boolean {
  return typeof method === 'string' && typeof asked === 'string' && asked.startsWith('/');
}

function isPollResult(value: unknown): boolean {
  const { found, report, error } = readObject(value);
  return found === true
    ? typeof readObject(report)['phase'] === 'string'
    : found === false && typeof error === 'string';
}
