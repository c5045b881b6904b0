import { getOption, hasOption } from '@bufbuild/protobuf';
import type { DescMethod } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Level } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { repeatable_with as repeatableWith } from '@reelgate/proto/rules/v1/rules';
import { systemClock } from '../clock.ts';
import { findBareStatus } from './problems.ts';

/** The maximum number for one call, in addition to the repeats of the library. */
const REFUSALS_MAX = 4;
/**
 * The waits before each repeat of a call. The first one finds another replica if there is one. All together are longer
 * than a client waits before it connects to a replica again.
 */
const REPEAT_AFTER_MS = [25, 50, 100, 200, 400, 800, 1000];
/**
 * The maximum number for one connection. Further calls fail immediately, so that few wait while all replicas are away.
 */
const REPEATING_MAX = 500;

/**
 * The end of a call without an answer of its method. `refused`: its stream was refused by a replica that closes the
 * connection; `unsent`: no replica was connected; `lost`: its connection or its stream broke, and the method may have
 * run.
 */
export type Loss = 'refused' | 'unsent' | 'lost';

/** The library's messages, which alone distinguish these ends from one another. */
const LOSSES: readonly (readonly [Code, RegExp, Loss])[] = [
  [Code.Unavailable, /^Stream refused by server$/, 'refused'],
  [Code.Unavailable, /No connection established|^Name resolution failed/, 'unsent'],
  [Code.Unavailable, /(?:)/, 'lost'],
  [Code.Internal, /^Received RST_STREAM/, 'lost'],
  [Code.Canceled, /^Call cancelled$/, 'lost'],
];

/** An error of a method carries its details, so it is no loss. */
export function findLoss(error: unknown): Loss | undefined {
  const status = findBareStatus(error);
  return LOSSES.find(([code, words]) => status?.code === code && words.test(status.rawMessage))?.[2];
}

/** Reports whether a call with this request can be sent again although its first try may have run. */
export type IsRepeatable = (request: object) => boolean;

/** Reads from the contract which calls of an RPC can be repeated. */
export function readRepeatable(method: DescMethod): IsRepeatable {
  if (method.idempotency !== Level.IDEMPOTENCY_UNKNOWN) return () => true;
  if (!hasOption(method, repeatableWith)) return () => false;
  const name = getOption(method, repeatableWith);
  const key = method.input.fields.find((field) => field.name === name)?.localName;
  if (key === undefined) throw new Error(`${method.name} is repeatable with ${name}, which is no field of its request`);
  return (request) => Boolean((request as Readonly<Record<string, unknown>>)[key]);
}

/** The calls of one connection that wait to be sent again. */
export interface Repeats {
  count: number;
}

export interface RepeatBounds {
  readonly repeats: Repeats;
  readonly isRepeatable: () => boolean;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds since 1970, undefined without a deadline. */
  readonly deadline: number | undefined;
}

/** Resolves when a call that ended with this error may be sent again. Rejects with the error if it must not be. */
export type AllowRepeat = (error: unknown) => Promise<void>;

/** Decides over the repeats of one call, all of which end with its deadline. */
export function newAllowance({ repeats, isRepeatable, signal, deadline = Infinity }: RepeatBounds): AllowRepeat {
  let [refusals, tries] = [0, 0];
  return async (error) => {
    const loss = findLoss(error);
    if (loss === 'refused' && refusals < REFUSALS_MAX) {
      refusals += 1;
      return;
    }
    const ms = REPEAT_AFTER_MS[tries];
    const may = ms !== undefined && loss !== undefined && repeats.count < REPEATING_MAX;
    if (!may || !(loss === 'unsent' || isRepeatable()) || systemClock.now() + ms >= deadline) throw error;
    tries += 1;
    repeats.count += 1;
    await systemClock.sleep(ms, signal).finally(() => {
      repeats.count -= 1;
    });
    if (signal?.aborted === true) throw error;
  };
}

/** Sends a call, and sends it again as long as that is allowed. */
export function repeatCall<T>(call: () => Promise<T>, allow: () => AllowRepeat): Promise<T> {
  return call().catch(async (error: unknown) => {
    const allowRepeat = allow();
    for (let failure = error; ;) {
      await allowRepeat(failure);
      try {
        return await call();
      } catch (again) {
        failure = again;
      }
    }
  });
}
