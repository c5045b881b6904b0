import type { ContentBlock, CallToolResult } from '@modelcontextprotocol/server';
import type { Secret } from '@reelgate/platform/secret';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Principal } from '../clients/billing-client.ts';
import type { InlineStore, ThumbnailReader } from '../clients/media-port.ts';
import type { AccountBooks } from '../clients/money-client.ts';
import type { ReadUsage } from '../clients/usage-client.ts';
import type { Links } from '../dialects/dialect.ts';
import type { Properties, Schema, TypeOf } from '../domain/schema.ts';
import { bodyValidator, invalid } from '../dialects/wire/body-validator.ts';
import type { Catalogue } from '../domain/model-defaults.ts';
import type { RateLimits } from '../http/admission/limit-rate.ts';
import type { VideoModels } from '../models/list-models.ts';
import type { AwaitChangeDeps, WaitPermits } from '../operations/await-change.ts';
import type { EndTaskDeps } from '../operations/end-task.ts';
import type { ChargeReader } from '../operations/read-charge.ts';
import type { SubmitOrderDeps } from '../operations/submit-order.ts';
import type { RateCounters } from '../rate-counters/rate-counters.ts';
import { formatNumber } from '../domain/decimal.ts';

/** The parts that tools need. A tool calls the operations that the HTTP routes call. */
export interface ToolParts extends SubmitOrderDeps, AwaitChangeDeps, EndTaskDeps {
  readonly media: InlineStore & ThumbnailReader;
  readonly usage: ReadUsage;
  readonly books: AccountBooks;
  readonly charges: ChargeReader;
  readonly videoModels: VideoModels;
  readonly links: Links;
  readonly limits: RateLimits;
  readonly counters: RateCounters;
  readonly waits: WaitPermits;
  readonly catalogue: () => Catalogue;
  /** Sign the prices that users of agents confirm; the first one signs. */
  readonly confirmationKeys: readonly Secret[];
}

/** One message of a client with a checked token. */
export interface RequestCall {
  readonly principal: Principal;
  readonly requestId: string;
  readonly span: Span;
  /** Aborted when the client leaves or the gateway stops. */
  readonly gone: AbortSignal;
  /** Names the task in the log line. */
  noteTask(taskId: string): void;
  /** Called right before an order is sent. */
  noteSubmit(): void;
  /** Names the called tool in the log line and the trace. */
  noteTool(name: string): void;
}

/** A call of a tool, as its whole message describes it. */
export interface ToolCall extends RequestCall {
  /** True if this request declares that its client follows tasks. */
  readonly followsTasks: boolean;
  readonly answers: UserAnswers;
}

/** The answer of a user to a question of an earlier call. Everything of it is written by the client. */
export interface UserAnswers {
  /** True if this request declares that its client asks its user. */
  readonly canAsk: boolean;
  /** Undefined if no question was asked. */
  readonly answer: 'accept' | 'decline' | 'cancel' | undefined;
  /** The state of the question, as the client repeats it. */
  readonly state: string | undefined;
}

/** Tells a client how much is done, in percent. */
export type ShowProgress = (percent: number) => void;

/** Waits for the result of a tool. It ends early when the client leaves or the gateway stops. */
type AwaitResult<A> = (args: A, call: RequestCall, showProgress: ShowProgress | undefined) => Promise<void>;

/** The result of a tool. Its sentence is ours: it has no text of a client, an upstream or a file. */
export interface ToolAnswer<Structured = object> {
  readonly structured: Structured;
  readonly sentence?: string;
  /** Links and pictures beside the text. */
  readonly attachments?: readonly ContentBlock[];
  /** True if the call failed, or shows a video that failed. */
  readonly isError?: boolean;
}

/** The id of a task that the client follows by itself, instead of a result. */
interface StartedTask {
  readonly startedTaskId: string;
}

/** A question to the user. The client repeats the call with the state and the answer. */
export interface ToolQuestion {
  readonly question: string;
  readonly state: string;
}

/** Hints for the client alone. They do not protect anything. */
interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: false;
}

/** The protocol takes no other schema for arguments and results. */
export type ObjectSchema = Schema & { readonly type: 'object' };

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  readonly hints: ToolHints;
  /** Comes before the run of a tool that waits. Refuses as the run does. */
  readonly wait?: AwaitResult<unknown>;
  /** Refuses with a Problem. */
  run(given: unknown, call: ToolCall): Promise<ToolAnswer | StartedTask | ToolQuestion>;
}

/** A tool as it is declared. The compiler compares its arguments and its result with their schemas. */
interface ToolSpec<I extends ObjectSchema, O extends ObjectSchema> extends Omit<McpTool, 'run' | 'wait'> {
  readonly input: I;
  readonly output: O;
  /** The arguments that are amounts of money: a JSON number is taken too. */
  readonly amounts?: readonly string[];
  readonly wait?: AwaitResult<TypeOf<I>>;
  /** Runs with arguments that the input schema has accepted. */
  run(args: TypeOf<I>, call: ToolCall): Promise<ToolAnswer<TypeOf<O> & object> | StartedTask | ToolQuestion>;
}

/** Builds a tool that checks its arguments. The first call compiles the check. */
export function buildTool<I extends ObjectSchema, O extends ObjectSchema>(spec: ToolSpec<I, O>): McpTool {
  const check = bodyValidator(spec.input);
  const { wait, amounts = [], ...rest } = spec;
  const read = (given: unknown): TypeOf<I> => check(readAmounts(amounts, dropEmptyArguments(spec.input, given)));
  return {
    ...rest,
    ...(wait && { wait: async (given, call, showProgress) => wait(read(given), call, showProgress) }),
    run: async (given, call) => spec.run(read(given), call),
  };
}

export const READ_ONLY: ToolHints = { readOnlyHint: true, openWorldHint: false };

type StrictSchema<P, Required> = {
  readonly type: 'object';
  readonly properties: P;
  readonly additionalProperties: false;
  /** Left out if it is empty. */
  readonly required: readonly Required[];
};

/** The schema of an object in which no other member is allowed. */
export function buildObjectSchema<const P extends Properties, const Required extends keyof P & string = never>(
  properties: P,
  required: readonly Required[] = [],
): StrictSchema<P, Required> {
  const schema = { type: 'object', properties, additionalProperties: false, ...(required.length > 0 && { required }) };
  return schema as StrictSchema<P, Required>;
}

/**
 * Returns the arguments without empty ones: null, an empty text, and an empty list. Some clients send every argument of
 * a schema, and models fill in the others. A required argument that is empty is then missing, and its check names it.
 * An unknown name stays, and is refused.
 */
function dropEmptyArguments({ properties }: Schema, given: unknown): unknown {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || Array.isArray(given)) return given;
  const known = properties as Readonly<Record<string, Schema>>;
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !Object.hasOwn(known, name) || !isEmpty(value)),
  );
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0)
  );
}

/** Returns the arguments with amounts as texts. A JSON number is read as the decimal that its client wrote. */
function readAmounts(names: readonly string[], given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const numbers = names.flatMap((name) => {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'number' ? [[name, readNumber(name, value)]] : [];
  });
  return numbers.length === 0 ? given : { ...given, ...Object.fromEntries(numbers) };
}

function readNumber(name: string, value: number): string {
  const text = formatNumber(value);
  if (text === undefined)
    throw invalid(name, 'must have at most 15 digits and nine places as a number; send a text such as "0.40"');
  return text;
}

/** Clients that do not read the structured content get the same JSON as text. */
export function toToolResult({ structured, sentence, attachments = [], isError = false }: ToolAnswer): CallToolResult {
  return {
    content: [
      { type: 'text', text: JSON.stringify(structured) },
      ...(sentence === undefined ? [] : [{ type: 'text' as const, text: sentence }]),
      ...attachments,
    ],
    structuredContent: { ...structured },
    ...(isError && { isError }),
  };
}
