import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Json } from '@reelgate/adapter-kit';
import { readList, readObject } from '@reelgate/adapter-kit/kit';
import type { Report } from '../../domain/report.ts';
import type { ChannelAdapter } from '../channel-adapter.ts';
import type { FindOutcome, ListedWork, LostAttempt, PlannedAttempt, PollResult, Submission } from '../channel.ts';
import type { ScriptedAnswer, ScriptedUpstream } from './scripted-upstream.ts';

/*
 * The fixtures of the contract suite of adapters: six files of recorded or documented answers, each a JSON list of
 * cases; the interfaces below are the shapes of the cases. Paths begin after `base_url`. An answer is `{status, json}`
 * or `{status, text}`. A result URL at the upstream itself is written `{base}/…`.
 *
 * | File              | Case                 | Shows                                                        |
 * |-------------------|----------------------|--------------------------------------------------------------|
 * | `submit-requests` | `SubmitRequestCase`  | the exact request for an attempt; at least one               |
 * | `submit-answers`  | `SubmitAnswerCase`   | the submission for each answer to a submit; at least one     |
 * | `polls`           | `PollCase`           | the report for each answer to a poll; every phase of the API |
 * | `lists`           | `ListCase`           | the work in a list; `[]`: the API has no list                |
 * | `cancels`         | `CancelCase`         | whether a cancel is confirmed; `[]`: the API has no cancel   |
 * | `tests`           | `TestCase`           | what `reelgate channel test` shows; at least one             |
 * | `finds`           | `FindCase`           | the outcome of a search by key; only with `find`             |
 * | `polls-many`      | `PollManyCase`       | the results of a poll of several; only with `pollMany`       |
 * | `suite`           | `SuiteFacts`         | an object, not a list; absent: its defaults                  |
 */

export type Phase = Report['phase'];

/** The facts of an API that the suite must know. */
export interface SuiteFacts {
  /** The id of the polled work in the fixtures. Default: `UPSTREAM_ID`. */
  readonly upstreamId?: string | undefined;
  /** The phases that the API of the upstream does not have. */
  readonly lacksPhases?: readonly Phase[] | undefined;
}

/** An adapter under test. */
export interface AdapterSubject {
  readonly name: string;
  readonly adapter: ChannelAdapter;
  /** The folder with the files of cases. */
  readonly fixtures: string;
}

/** One guarantee, which an adapter keeps if `run` resolves. The cases run one after the other. */
export interface ContractCase {
  readonly name: string;
  readonly run: (upstream: ScriptedUpstream) => Promise<void>;
}

export interface RequestMade {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}
export interface Case {
  readonly name: string;
}
export interface SubmitRequestCase extends Case {
  readonly attempt: PlannedAttempt;
  readonly request: RequestMade;
  readonly contentType?: string;
}
export interface SubmitAnswerCase extends Case {
  readonly answer: ScriptedAnswer;
  readonly submission: Submission;
}
export interface PollCase extends Case {
  /** One answer, or the answers to several calls. */
  readonly answer?: ScriptedAnswer;
  readonly answers?: readonly ScriptedAnswer[];
  /** The default is any GET without a body. */
  readonly request?: RequestMade;
  readonly requests?: readonly RequestMade[];
  readonly polled: PollResult;
}
export interface PollManyCase extends Case {
  readonly upstreamIds: readonly string[];
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  /** By upstream id. */
  readonly polled: Readonly<Record<string, PollResult>>;
}
export interface FindCase extends Case {
  readonly lost: LostAttempt;
  /** The time of the search, in milliseconds since 1970. */
  readonly now: number;
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly found: FindOutcome;
}
export interface ListCase extends Case {
  readonly since: number;
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly works?: readonly ListedWork[];
}
export interface CancelCase extends Case {
  readonly answers: readonly ScriptedAnswer[];
  readonly requests: readonly RequestMade[];
  readonly confirmed: boolean;
}
export interface TestCase extends Case {
  readonly answer: ScriptedAnswer;
  readonly request: RequestMade;
  readonly tested: { readonly ok: boolean; readonly detail: string };
}

/** Reads a file of cases. Throws an error that names the file if it is no list. */
export function readCases<C extends Case>({ fixtures }: AdapterSubject, file: string): readonly C[] {
  const cases = readFixture(path.join(fixtures, `${file}.json`));
  if (!Array.isArray(cases)) throw new Error(`${path.join(fixtures, `${file}.json`)}: expected a list of cases`);
  for (const one of cases.map(readObject)) {
    const fault = findWrongWord(one);
    if (fault !== undefined) throw new Error(`${path.join(fixtures, `${file}.json`)}: ${fault}`);
  }
  return cases as readonly C[];
}

/** The words of the kit, `json` of a request and `body` of an answer, would be ignored here. */
function findWrongWord({ name, request, requests, answer, answers }: Json): string | undefined {
  const has = (word: string, ...values: readonly unknown[]): boolean =>
    values.some((value) => Object.hasOwn(readObject(value), word));
  const title = `"${String(name)}"`;
  if (has('json', request, ...readList(requests))) return `the request of ${title} has json; expected body`;
  return has('body', answer, ...readList(answers))
    ? `the answer of ${title} has body; expected json, or text`
    : undefined;
}

export function readSuiteFacts({ fixtures }: AdapterSubject): SuiteFacts {
  try {
    return readFixture(path.join(fixtures, 'suite.json')) as SuiteFacts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

function readFixture(file: string): unknown {
  const text = readFileSync(file, 'utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: expected JSON`, { cause: error });
  }
}

export function listAnswers({
  answer,
  answers = answer === undefined ? [] : [answer],
}: PollCase): readonly ScriptedAnswer[] {
  return answers;
}

/** The first case of a file, which must have one. */
export function takeFirst<C>(cases: readonly C[], what: string): C {
  const [first] = cases;
  if (first === undefined) throw new Error(`an adapter needs ${what}`);
  return first;
}
