import type { DescMethodUnary, DescService, MessageJsonType, MessageShape } from '@bufbuild/protobuf';
import type { AccountService } from '@reelgate/proto/billing/v1/account_service';
import type { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { QueueService } from '@reelgate/proto/tasks/v1/queue_service';

/** The body of `POST /calls`: calls to RPCs of the services, by name. */
export interface PassedCalls {
  readonly calls: readonly PassedCall[];
}

export interface PassedCall {
  /** Such as `tasks.OperatorService/ListNotes`. */
  readonly rpc: string;
  /** The request as JSON of its contract. The server fills in `actor`. */
  readonly request: object;
}

/** The answer to `POST /calls`: one entry for each call, in the order of the calls. */
export interface CallAnswers {
  readonly answers: readonly PassedAnswer[];
  readonly now: number;
}

export type PassedAnswer =
  | {
      /** The answer as JSON of its contract. */
      readonly answer: object;
    }
  | { readonly refusal: CallRefusal };

export interface CallRefusal extends Refusal {
  /** The HTTP status that the refusal alone would have. */
  readonly status: number;
}

/** The body of a refusal. */
export interface Refusal {
  readonly error: { readonly message: string; readonly code: string; readonly param?: string | null };
}

/** The services with RPCs that the console passes. The contracts say which RPCs, and for which role. */
interface Services {
  readonly 'tasks.OperatorService': typeof OperatorService;
  readonly 'tasks.QueueService': typeof QueueService;
  readonly 'billing.AccountService': typeof AccountService;
  readonly 'billing.BillingService': typeof BillingService;
  readonly 'billing.UsageService': typeof UsageService;
}

type Rpcs = {
  readonly [S in keyof Services]: {
    readonly [M in keyof MethodsOf<Services[S]> & string as `${S}/${Capitalize<M>}`]: MethodsOf<Services[S]>[M];
  };
}[keyof Services] extends infer Each
  ? Intersect<Each>
  : never;
type MethodsOf<S extends DescService> = S['method'];
type Intersect<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;

/** The name of an RPC, such as `billing.AccountService/GetMargins`. */
export type RpcName = keyof Rpcs;

/** The request of an RPC, without the actor. */
export type RpcRequest<N extends RpcName> = Rpcs[N] extends DescMethodUnary
  ? Omit<MessageJsonType<Rpcs[N]['input']> & object, 'actor'>
  : never;

/** The answer of an RPC. Fields without presence are always set. */
export type RpcAnswer<N extends RpcName> = Rpcs[N] extends DescMethodUnary
  ? WholeJson<MessageShape<Rpcs[N]['output']>, MessageJsonType<Rpcs[N]['output']>>
  : never;

/**
 * The JSON of a message as the server writes it: a field without presence is always there, and a message or an
 * `optional` field can be absent. `M` is the message and `J` its JSON type of the contract.
 */
export type WholeJson<M, J> = J extends string | number | boolean | null
  ? J
  : J extends readonly (infer JsonItem)[]
    ? readonly WholeJson<M extends readonly (infer Item)[] ? Item : never, JsonItem>[]
    : {
        readonly [K in keyof J as IsImplicit<M, K> extends true ? K : never]-?: WholeJson<
          FieldOf<M, K>,
          NonNullable<J[K]>
        >;
      } & {
        readonly [K in keyof J as IsImplicit<M, K> extends true ? never : K]?: WholeJson<
          FieldOf<M, K>,
          NonNullable<J[K]>
        >;
      };
type IsImplicit<M, K> = K extends keyof M ? (undefined extends M[K] ? false : true) : false;
type FieldOf<M, K> = K extends keyof M ? NonNullable<M[K]> : OneofMember<M[keyof M], K>;
type OneofMember<Oneof, K> = Oneof extends { readonly case: K; readonly value: infer V } ? V : never;
