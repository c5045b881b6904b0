import type { TokenJson } from '@reelgate/proto/billing/v1/account_service';
import type { GetHoldResponseJson } from '@reelgate/proto/billing/v1/billing_service';
import type { HoldJson, LedgerLineJson, SettlementJson } from '@reelgate/proto/billing/v1/hold';
import type {
  AttemptRecordJson,
  AttentionItemJson,
  TaskEventJson,
  TaskRecordJson,
} from '@reelgate/proto/tasks/v1/operator_service';
import type { TaskJson } from '@reelgate/proto/tasks/v1/task';
import { formatNanos } from '../../deploy/cli/format/quantities.ts';
import type { CommandResult } from './program.ts';

/** The JSON of a message as the command line prints it, with a value for every field. */
type Whole<J> = { readonly [K in keyof J]-?: NonNullable<J[K]> };

/** A task, its record and its money as one object, with the fields of their contracts. */
export interface ShownTask
  extends
    Whole<Pick<TaskJson, 'id' | 'state' | 'order'>>,
    Pick<TaskJson, 'failure'>,
    Whole<Pick<TaskRecordJson, 'admission' | 'requestId' | 'traceId'>> {
  readonly attempts: readonly Whole<AttemptRecordJson>[];
  readonly events: readonly Whole<TaskEventJson>[];
  readonly hold?: Whole<HoldJson>;
  readonly settlement?: Whole<SettlementJson>;
  readonly lines?: readonly Whole<LedgerLineJson>[];
  readonly deferredAmountNanos?: string;
}

interface CommandLine {
  command(...args: readonly string[]): Promise<Pick<CommandResult, 'json' | 'err'>>;
}

async function read<T>(program: CommandLine, words: readonly string[]): Promise<T> {
  const { json, err } = await program.command(...words);
  if (json === undefined) throw new Error(`reelgate ${words.join(' ')} printed no answer: ${err}`);
  return json as T;
}

async function readTasks(program: CommandLine, words: readonly string[]): Promise<readonly ShownTask[]> {
  interface Answer {
    readonly tasks: readonly { readonly record: TaskRecordJson; readonly money?: GetHoldResponseJson }[];
  }
  const { tasks } = await read<Answer>(program, words);
  return tasks.map(({ record, money }) => ({ ...money, ...record, ...record.task }) as ShownTask);
}

/** Lists tasks, with the options of `task list`. */
export function listTasks(program: CommandLine, ...options: readonly string[]): Promise<readonly ShownTask[]> {
  return readTasks(program, ['task', 'list', ...options]);
}

export async function showTask(program: CommandLine, id: string): Promise<ShownTask> {
  const [task] = await readTasks(program, ['task', 'show', id]);
  if (task === undefined) throw new Error(`task show ${id} shows no task`);
  return task;
}

/** Reads the prompt of a task. */
export function promptOf({ order }: ShownTask): string {
  return order.content?.map(({ text = '' }) => text).join('') ?? '';
}

export async function listAttention(program: CommandLine): Promise<readonly Whole<AttentionItemJson>[]> {
  return (await read<{ readonly items: readonly Whole<AttentionItemJson>[] }>(program, ['attention', 'list'])).items;
}

/** Reads the money of an account as decimals. */
export function readAccount(
  program: CommandLine,
  id: string,
): Promise<{ readonly balance: string; readonly held: string; readonly available: string }> {
  return read(program, ['account', 'show', id]);
}

/** Writes billionths as a decimal; zero if they are not set. */
export function formatAmount(nanos: string | undefined): string {
  return formatNanos(BigInt(nanos ?? 0));
}

export async function listTokens(program: CommandLine, account: string): Promise<readonly Whole<TokenJson>[]> {
  const words = ['token', 'list', '--account', account];
  return (await read<{ readonly tokens: readonly Whole<TokenJson>[] }>(program, words)).tokens;
}

/** Creates a token for an account, with the options of `token create`. */
export async function createToken(
  program: CommandLine,
  account: string,
  ...options: readonly string[]
): Promise<{ readonly id: string; readonly key: string }> {
  const words = ['token', 'create', '--account', account, '--models', '*', ...options];
  const { token_id: id, key } = await read<{ readonly token_id: string; readonly key: string }>(program, words);
  return { id, key };
}
