import type { Account } from '../world/world.ts';
import type { World } from '../world/world.ts';

/** What a row needs besides an address and a token. */
export type Need =
  /** The upstream is the sandbox, which words in a prompt steer. */
  | 'sandbox'
  /** The suite has started the program itself, with other accounts, the command line, media and relay upstreams. */
  | 'own program';

/** The configuration that a row runs against. */
export type Setting = 'standard' | 'no price of regeneration' | 'free regeneration';

export interface Request {
  readonly method: string;
  readonly path: string;
  /** A `Form`, a `Buffer` or a text is sent unchanged, any other value as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: Account;
}

export interface Expectation {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly bytes?: unknown;
}

export interface Step {
  readonly request: Request;
  readonly expect: Expectation;
  /** Names for values of the answer (`task: 'task_id'`), which later steps of the row write as `{{task}}`. */
  readonly keep?: Readonly<Record<string, string>>;
  /** The request is repeated until the answer is the expected one. */
  readonly until?: boolean;
}

/** A check that no single request can express. */
export type Check = (world: World, kept: Map<string, string>) => Promise<string | undefined>;

/** One row of the contract: a sentence, the requests that try it, and their expected answers. */
export interface Row {
  readonly name: string;
  /** The row's section of the contract. */
  readonly section: string;
  readonly steps: readonly (Step | Check)[];
  readonly needs?: readonly Need[];
  readonly setting?: Setting;
  /** The row runs after all others. */
  readonly last?: true;
}

type More = Pick<Request, 'headers' | 'as'>;

export const get = (path: string, more: More = {}): Request => ({ method: 'GET', path, ...more });
export const head = (path: string, more: More = {}): Request => ({ method: 'HEAD', path, ...more });
export const post = (path: string, body?: unknown, more: More = {}): Request => ({
  method: 'POST',
  path,
  body,
  ...more,
});
export const del = (path: string, more: More = {}): Request => ({ method: 'DELETE', path, ...more });

export const step = (request: Request, expect: Expectation, keep?: Step['keep']): Step => ({
  request,
  expect,
  ...(keep === undefined ? {} : { keep }),
});
/** A request that is repeated, within a bound, until it has this answer. */
export const until = (request: Request, expect: Expectation, keep?: Step['keep']): Step => ({
  ...step(request, expect, keep),
  until: true,
});

export type RowOptions = Pick<Row, 'needs' | 'setting' | 'last'>;

/** The rows of a table. Each is a sentence, one request and its answer. */
export function table(
  section: string,
  rows: readonly (readonly [name: string, request: Request, expect: Expectation])[],
  options: RowOptions = {},
): readonly Row[] {
  return rows.map(([name, request, expect]) => ({ name, section, steps: [step(request, expect)], ...options }));
}

/** A row of several requests. */
export const sequence = (section: string, name: string, steps: Row['steps'], options: RowOptions = {}): Row => ({
  name,
  section,
  steps,
  ...options,
});
