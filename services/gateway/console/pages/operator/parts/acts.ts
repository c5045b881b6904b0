import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import { toCall } from '../../../state/calls.ts';

type ActsRequest = RpcRequest<'tasks.OperatorService/ListActs'>;
type ActsAnswer = RpcAnswer<'tasks.OperatorService/ListActs'>;

/** An act of an operator. */
export type Act = ActsAnswer['acts'][number];

export interface ActAnswers {
  readonly tasksActs?: ActsAnswer;
  readonly billingActs?: ActsAnswer;
}

/** The calls that read the acts of operators in both services. */
export function toActCalls(request: ActsRequest) {
  return {
    tasksActs: toCall('tasks.OperatorService/ListActs', request),
    billingActs: toCall('billing.AccountService/ListActs', request),
  };
}

/** Merges the acts of both services, the newest first. Returns undefined if one of them cannot be read now. */
export function mergeActs({ tasksActs, billingActs }: ActAnswers): readonly Act[] | undefined {
  if (tasksActs === undefined || billingActs === undefined) return undefined;
  // the ids of both services sort by time
  return [...tasksActs.acts, ...billingActs.acts].sort((one, other) => (one.id < other.id ? 1 : -1));
}

/** Lists the newest acts for a page; none if they cannot be read now. */
export function listActs(answers: ActAnswers, limit: number, prefix = ''): readonly Act[] {
  return (mergeActs(answers) ?? []).filter(({ action }) => action.startsWith(prefix)).slice(0, limit);
}

/** The facts of an act, by their names. */
export function readDetail({ detailJson }: Act): Readonly<Record<string, unknown>> {
  return detailJson === '' ? {} : (JSON.parse(detailJson) as Readonly<Record<string, unknown>>);
}
