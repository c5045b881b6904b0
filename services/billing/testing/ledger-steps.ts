import { expect } from '@jest/globals';
import fc from 'fast-check';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import { callOrder } from './call-orders.ts';
import type { ConfigValue, TestBilling } from './open-billing.ts';

/*
 * Calls of the service, each with what a reference of a few lines expects of it. All sequences of calls share one
 * service. Each has its own account and price key, and starts from this credit at this price.
 */
const CREDIT = 100n;
const FIRST_PRICE = 2n;
const OVERRUN = 10n;
const UNIT = 1_000_000_000n;

/** The configuration of a service that all sequences share. */
export const NO_ACCOUNTS: ConfigValue = {
  billing: { overrun_factor: Number(OVERRUN), send_ahead_max: '1' },
  prices: {},
  accounts: [],
};

interface ModelTask {
  amount: bigint;
  price: bigint;
  state: 'held' | 'charged' | 'released' | 'void';
  isExtended: boolean;
  /** Undefined: there is no bound. */
  readonly bound?: bigint | undefined;
  readonly isBatch?: boolean;
}

/** The way in which a hold is asked for. */
interface HoldOptions {
  readonly bound: bigint | undefined;
  readonly isBatch: boolean;
}

/** The reference: what an account has, and its holds and calls. */
export interface Model {
  balance: bigint;
  price: bigint | undefined;
  readonly tasks: Map<string, ModelTask>;
  readonly calls: Map<string, ModelTask>;
}

/** The account of a sequence in a service. */
export interface Real {
  readonly on: TestBilling;
  readonly account: string;
  readonly tokenId: string;
  setPrice(price: bigint | undefined): Promise<void>;
}

type Step = fc.AsyncCommand<Model, Real>;

const heldOf = ({ tasks, calls }: Model): bigint =>
  [...tasks.values(), ...calls.values()].reduce((sum, { state, amount }) => sum + (state === 'held' ? amount : 0n), 0n);
const factsOf = ({ account }: Real, seconds: bigint, ofClass = '') => ({
  priceKey: `price-${account}${ofClass}`,
  seconds,
});
const isAbove = (amount: bigint, bound: bigint | undefined): boolean => bound !== undefined && amount > bound;
const nameOf = ({ account }: Real, task: string): string => `${account}-${task}`;

async function compare(model: Model, { on, account }: Real): Promise<void> {
  const { account: found } = await on.accounts.getAccount({ id: account });
  expect(found).toMatchObject({ balanceNanos: model.balance * UNIT, heldNanos: heldOf(model) * UNIT });
}

/** The expectation of the model: the state afterwards, or the reason of the refusal. */
function step(name: string, apply: (model: Model) => string | undefined, call: (real: Real) => Promise<unknown>): Step {
  return {
    check: () => true,
    run: async (model, real) => {
      const refusal = apply(model);
      if (refusal === undefined) await call(real);
      else await expect(call(real)).rejects.toMatchObject({ reason: refusal });
      await compare(model, real);
    },
    toString: () => name,
  };
}

const hold = (task: string, seconds: bigint, { bound, isBatch }: HoldOptions): Step =>
  step(
    `hold(${task}, ${seconds}, ${bound}, ${isBatch})`,
    (model) => {
      const known = model.tasks.get(task);
      if (known?.state === 'void' || known?.state === 'released') return 'hold_voided';
      if (known !== undefined) return undefined;
      if (model.price === undefined) return 'model_price_error';
      const price = isBatch ? model.price / 2n : model.price;
      const amount = price * seconds;
      if (isAbove(amount, bound)) return 'price_above_max';
      if (model.balance - heldOf(model) < amount) return 'insufficient_quota';
      model.tasks.set(task, { amount, price, state: 'held', isExtended: false, bound, isBatch });
      return undefined;
    },
    (real) =>
      real.on.billing.placeHold({
        ...(bound === undefined ? {} : { maxAmountNanos: bound * UNIT }),
        taskId: nameOf(real, task),
        accountId: real.account,
        tokenId: real.tokenId,
        facts: { ...factsOf(real, seconds), class: isBatch ? TokenClass.BATCH : TokenClass.STANDARD },
      }),
  );

const extend = (task: string, seconds: bigint): Step => {
  let ofClass = '';
  return step(
    `extend(${task}, ${seconds})`,
    (model) => {
      const known = model.tasks.get(task);
      ofClass = known?.isBatch === true ? '__batch' : '';
      if (known === undefined) return 'hold_not_found';
      if (known.state !== 'held') return known.state === 'void' ? 'hold_voided' : 'hold_ended';
      if (known.isExtended) return undefined;
      if (isAbove(known.price * seconds, known.bound)) return 'price_above_max';
      const more = known.price * seconds - known.amount;
      if (more > 0n && model.balance - heldOf(model) < more) return 'insufficient_quota';
      known.amount += more;
      known.isExtended = true;
      return undefined;
    },
    (real) => real.on.billing.extendHold({ taskId: nameOf(real, task), facts: factsOf(real, seconds, ofClass) }),
  );
};

const settle = (task: string, seconds: bigint, confirmed: boolean): Step =>
  step(
    `settle(${task}, ${seconds}, ${confirmed})`,
    (model) => {
      const known = model.tasks.get(task);
      if (known === undefined) return 'hold_not_found';
      if (known.state !== 'held') return undefined;
      const amount = seconds > 0n ? known.price * seconds : known.amount;
      if (!confirmed && amount > OVERRUN * known.amount) return undefined;
      known.state = 'charged';
      model.balance -= isAbove(amount, known.bound) ? (known.bound ?? 0n) : amount;
      return undefined;
    },
    (real) => real.on.billing.settleHold({ taskId: nameOf(real, task), totalSeconds: seconds, confirmed }),
  );

const release = (task: string): Step =>
  step(
    `release(${task})`,
    (model) => {
      const known = model.tasks.get(task);
      if (known === undefined) model.tasks.set(task, { amount: 0n, price: 0n, state: 'void', isExtended: false });
      else if (known.state === 'held') known.state = 'released';
      return undefined;
    },
    (real) => real.on.billing.releaseHold({ taskId: nameOf(real, task) }),
  );

const placeCall = (call: string, seconds: bigint): Step =>
  step(
    `placeCall(${call}, ${seconds})`,
    (model) => {
      const known = model.calls.get(call);
      if (known?.state === 'void' || known?.state === 'released') return 'hold_voided';
      if (known !== undefined) return undefined;
      if (model.price === undefined) return 'model_price_error';
      const amount = model.price * seconds;
      if (model.balance - heldOf(model) < amount) return 'insufficient_quota';
      model.calls.set(call, { amount, price: model.price, state: 'held', isExtended: false });
      return undefined;
    },
    async (real) => {
      const { placed } = await real.on.calls.placeCalls({
        calls: [
          callOrder(real.on, nameOf(real, call), {
            accountId: real.account,
            tokenId: real.tokenId,
            priceKeys: [`price-${real.account}`],
            facts: { seconds },
          }),
        ],
      });
      const result = placed[0]?.result;
      if (result?.case === 'refusal') throw fromWireProblem(result.value);
    },
  );

const endCall = (call: string, seconds: bigint, basis: Basis): Step =>
  step(
    `endCall(${call}, ${seconds}, ${Basis[basis]})`,
    (model) => {
      const known = model.calls.get(call);
      if (known === undefined && basis === Basis.RELEASED)
        model.calls.set(call, { amount: 0n, price: 0n, state: 'void', isExtended: false });
      if (known?.state !== 'held') return undefined;
      const most =
        { [Basis.USAGE]: OVERRUN * known.amount, [Basis.ESTIMATE]: known.amount }[
          basis as Basis.USAGE | Basis.ESTIMATE
        ] ?? 0n;
      const used = known.price * seconds < most ? known.price * seconds : most;
      known.state = basis === Basis.RELEASED ? 'released' : 'charged';
      model.balance -= basis === Basis.RELEASED ? 0n : basis === Basis.HOLD || seconds === 0n ? known.amount : used;
      return undefined;
    },
    (real) => real.on.calls.settleCalls({ ends: [{ callId: nameOf(real, call), basis, usage: { seconds } }] }),
  );

const price = (value: bigint | undefined): Step =>
  step(
    `price(${value})`,
    (model) => {
      model.price = value;
      return undefined;
    },
    (real) => real.setPrice(value),
  );

const credit = (amount: bigint): Step =>
  step(
    `credit(${amount})`,
    (model) => {
      model.balance += amount;
      return undefined;
    },
    (real) =>
      real.on.accounts.creditAccount({
        id: real.account,
        amountNanos: amount * UNIT,
        reason: 'a test',
        actor: 'a test',
      }),
  );

const task = fc.constantFrom('a', 'b', 'c', 'd');
const seconds = fc.bigInt({ min: 1n, max: 30n });
const options = fc.record({
  bound: fc.option(fc.bigInt({ min: 0n, max: 80n }), { nil: undefined }),
  isBatch: fc.boolean(),
});
/** Any calls in any order. */
export const drawLedgerSteps = fc.commands(
  [
    fc.tuple(task, seconds, options).map((given) => hold(...given)),
    fc.tuple(task, seconds).map((given) => extend(...given)),
    fc.tuple(task, fc.bigInt({ min: 0n, max: 100n }), fc.boolean()).map((given) => settle(...given)),
    task.map(release),
    fc.tuple(task, seconds).map((given) => placeCall(...given)),
    fc
      .tuple(
        task,
        fc.bigInt({ min: 0n, max: 400n }),
        fc.constantFrom(Basis.USAGE, Basis.ESTIMATE, Basis.HOLD, Basis.RELEASED),
      )
      .map((given) => endCall(...given)),
    // even, so that the half of a price is whole
    fc.option(fc.constantFrom(0n, 2n, 4n), { nil: undefined }).map(price),
    fc
      .bigInt({ min: -20n, max: 50n })
      .filter((amount) => amount !== 0n)
      .map(credit),
  ],
  { maxCommands: 40, size: 'max' },
);

/** Makes the account of a sequence. */
export async function startSequence(on: TestBilling, account: string): Promise<{ model: Model; real: Real }> {
  const setPrice = (value: bigint | undefined): Promise<void> =>
    on.service.reload({
      ...NO_ACCOUNTS,
      prices:
        value === undefined
          ? {}
          : { [`price-${account}`]: { per_second: String(value), class_discounts: { batch: '0.5' } } },
      accounts: [{ id: account, currency: 'USD', credit: String(CREDIT), tokens: [] }],
    });
  await setPrice(FIRST_PRICE);
  const { token } = await on.accounts.createToken({ accountId: account, models: ['*'] });
  return {
    model: { balance: CREDIT, price: FIRST_PRICE, tasks: new Map(), calls: new Map() },
    real: { on, account, tokenId: token!.id, setPrice },
  };
}
