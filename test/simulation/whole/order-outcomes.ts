/** What the log of a run says about one order. */
export interface OrderOutcome {
  /** The answers to its creates, in their order. */
  readonly creates: readonly string[];
  /** The works that upstreams have accepted for it, with their routes. */
  readonly works: readonly string[];
  /** The last state that its client has read, empty if the client has read none. */
  readonly state: string;
  /** All requests of its client with the statuses of their answers, in their order. */
  readonly requests: readonly string[];
}

const CLIENT_LINE = /^\d+ client (order-\d+)([^:]*): (\S+) (\S+) (?:is answered (\d+) (.*)|has no answer)$/;
const WORK_LINE = /^\d+ network POST (\S+) of .*"(upstream-work-(order-\d+)(?:-remix)?-\d+)"/;
const ID = /\b(task|whep)_[a-z0-9]+/g;
const STATUS = /"status":"(\w+)"/;

interface GrowingOutcome {
  readonly creates: string[];
  readonly works: string[];
  state: string;
  readonly requests: string[];
}

/** Reads from the log of a run what became of each order. */
export function readOutcomes(log: string): ReadonlyMap<string, OrderOutcome> {
  const outcomes = new Map<string, GrowingOutcome>();
  const find = (order: string): GrowingOutcome => {
    const known = outcomes.get(order) ?? { creates: [], works: [], state: '', requests: [] };
    outcomes.set(order, known);
    return known;
  };
  for (const line of log.split('\n')) {
    const request = CLIENT_LINE.exec(line);
    if (request !== null) addRequest(find(request[1] ?? ''), request.slice(2));
    const [, route = '', work = '', order] = WORK_LINE.exec(line) ?? [];
    if (order !== undefined) find(order).works.push(`${route} ${work}`);
  }
  return outcomes;
}

function addRequest(
  outcome: GrowingOutcome,
  [variant = '', method = '', path = '', status = 'none', text = '']: readonly (string | undefined)[],
): void {
  const isCreate = method === 'POST' && !path.endsWith('/cancel');
  if (isCreate) outcome.creates.push(`${variant} ${status}`);
  outcome.requests.push(`${variant} ${method} ${path.replaceAll(ID, '$1')} ${status}`);
  if (method === 'GET') outcome.state = STATUS.exec(text)?.[1] ?? outcome.state;
}

/** How many of the orders of two runs are the same in both. */
export interface Survival {
  readonly orders: number;
  /** The same creates, works and last state. */
  readonly outcomes: number;
  /** The same requests with the same statuses too. */
  readonly requests: number;
}

/** Compares the orders that a run and a shorter run have in common. */
export function compareOrders(whole: string, shorter: string): Survival {
  const [before, after] = [readOutcomes(whole), readOutcomes(shorter)];
  const pairs = [...after].map(([order, outcome]) => [before.get(order), outcome] as const);
  const count = (show: (outcome: OrderOutcome) => unknown): number =>
    pairs.filter(([one, other]) => one !== undefined && JSON.stringify(show(one)) === JSON.stringify(show(other)))
      .length;
  return {
    orders: pairs.length,
    outcomes: count(({ creates, works, state }) => ({ creates, works, state })),
    requests: count((outcome) => outcome),
  };
}
