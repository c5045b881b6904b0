import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

/** Every id of a work begins with it. */
export const WORK_ID = 'upstream-work-';
export const RESULTS_HOST = 'results.example';
const MARK = /\[(order-\d+)\]/;
const QUEUED_MS_MAX = 8000;
const RUNNING_MS = { least: 2000, most: 25_000 };
const FAULTY_WORKS = 0.12;
/** Of the works in an unknown state, this part stays in it, so that a person has to decide. */
const STAYING = 0.3;
const STAYING_MS = 24 * 3_600_000;
/** An upstream that reads from a copy does not know a work for a time. Five such answers in a row ask a person. */
const UNKNOWN_MS_MAX = 12_000;
/** The reports of success that have no URL yet. Five of them in a row ask a person. */
const WITHOUT_URL_MAX = 7;
/** Of the works, this part uses other seconds than were ordered. */
const OTHER_USAGE = 0.3;
/** How many seconds more or less, and how many times as many, where a person has to decide. */
const USAGES = [
  (seconds: number) => seconds - 2,
  (seconds: number) => seconds - 1,
  (seconds: number) => seconds + 1,
  (seconds: number) => seconds + 4,
  (seconds: number) => seconds * 12,
];

/** An order as an upstream has accepted it. */
export interface AcceptedOrder {
  readonly account: string;
  readonly prompt: string;
  readonly model: string;
  readonly duration: number;
  readonly resolution: string;
  readonly ratio: string;
  /** The key of the attempt, where the upstream takes one. */
  readonly key: string | undefined;
  /** The work that this one is a variation of. */
  readonly source: Work | undefined;
  /** The address that the upstream calls when the work has changed. */
  readonly callbackUrl: string | undefined;
  /** The seconds of the reference videos. */
  readonly inputSeconds: number;
  /** True if the upstream reports what it used. */
  readonly hasUsage: boolean;
}

export type WorkState = 'queued' | 'running' | 'pondering' | 'succeeded' | 'failed' | 'cancelled' | 'lost';

/** A piece of work, as the upstream alone knows it. */
export interface Work extends AcceptedOrder {
  readonly id: string;
  /** The name of the client's order. */
  readonly order: string;
  readonly createdAt: number;
  readonly runsAt: number;
  readonly endsAt: number;
  readonly fate: 'succeeds' | 'fails' | 'is lost' | 'ponders';
  isCancelled: boolean;
  /** The upstream cannot be asked for it by its id until then. */
  readonly knownAt: number;
  /** The next reports of success that have no URL. */
  withoutUrl: number;
  /** The seconds that the upstream reports as used. Undefined if it reports no usage. */
  readonly usedSeconds: number | undefined;
}

export interface UpstreamWorks {
  readonly all: () => readonly Work[];
  accept(order: AcceptedOrder): Work;
  find(account: string, id: string): Work | undefined;
  findByKey(account: string, key: string): Work | undefined;
  /** The newest first. */
  list(account: string): readonly Work[];
  readState(work: Work): WorkState;
  /** The URL of the result of work that has succeeded; undefined: the report has none. */
  takeUrl(work: Work): string | undefined;
}

export interface WorksOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly onAccepted: (work: Work) => void;
}

/** Returns the name of the client's order, which stands in its prompt. */
function readOrderName(prompt: string): string {
  return MARK.exec(prompt)?.[1] ?? '';
}

/** The works of all upstream accounts. */
export function openUpstreamWorks({ scheduler, draws, faults, onAccepted }: WorksOptions): UpstreamWorks {
  const works: Work[] = [];
  const drawFate = (name: string): Work['fate'] => {
    if (faults.happens('failing work', name, FAULTY_WORKS)) return 'fails';
    if (faults.happens('lost work', name, FAULTY_WORKS)) return 'is lost';
    return faults.happens('unknown state', name, FAULTY_WORKS) ? 'ponders' : 'succeeds';
  };
  const drawUsage = (name: string, { duration, inputSeconds }: AcceptedOrder): number => {
    const ordered = duration + inputSeconds;
    return draws.happens(`${name} usage`, OTHER_USAGE) ? draws.pick(`${name} used`, USAGES)(ordered) : ordered;
  };
  const readState = (work: Work): WorkState => {
    const now = scheduler.now();
    if (work.isCancelled) return 'cancelled';
    if (now < work.runsAt) return 'queued';
    if (work.fate === 'is lost') return 'lost';
    if (now < work.endsAt) return work.fate === 'ponders' ? 'pondering' : 'running';
    return work.fate === 'fails' ? 'failed' : 'succeeded';
  };
  const find = (account: string, isWanted: (work: Work) => boolean): Work | undefined =>
    works.find((work) => work.account === account && isWanted(work) && readState(work) !== 'lost');
  return {
    all: () => works,
    accept: (accepted) => {
      const { source } = accepted;
      const order = source === undefined ? readOrderName(accepted.prompt) : `${source.order}-remix`;
      const number = works.filter((work) => work.order === order).length + 1;
      const name = `upstream work ${order} ${number}`;
      const createdAt = scheduler.now();
      const runsAt = createdAt + draws.whole(`${name} queued`, 0, QUEUED_MS_MAX);
      const fate = drawFate(name);
      const stays = fate === 'ponders' && draws.happens(`${name} stays`, STAYING);
      const work: Work = {
        ...accepted,
        id: `${WORK_ID}${order}-${number}`,
        order,
        createdAt,
        runsAt,
        endsAt: runsAt + (stays ? STAYING_MS : draws.whole(`${name} running`, RUNNING_MS.least, RUNNING_MS.most)),
        fate,
        isCancelled: false,
        knownAt: faults.happens('late knowledge', name, FAULTY_WORKS)
          ? createdAt + draws.whole(`${name} known after`, 0, UNKNOWN_MS_MAX)
          : createdAt,
        usedSeconds: accepted.hasUsage ? drawUsage(name, accepted) : undefined,
        withoutUrl: faults.happens('success without URL', name, FAULTY_WORKS)
          ? draws.whole(`${name} without URL`, 1, WITHOUT_URL_MAX)
          : 0,
      };
      works.push(work);
      onAccepted(work);
      return work;
    },
    find: (account, id) => find(account, (work) => work.id === id && scheduler.now() >= work.knownAt),
    findByKey: (account, key) => find(account, (work) => work.key === key),
    list: (account) => works.filter((work) => work.account === account && readState(work) !== 'lost').toReversed(),
    readState,
    takeUrl: (work) => {
      work.withoutUrl -= 1;
      return work.withoutUrl >= 0 ? undefined : buildResultUrl(work);
    },
  };
}

/** The address of the result of a work, which says what the media service finds in it. */
function buildResultUrl({ id, duration, resolution, ratio }: Work): string {
  const facts = new URLSearchParams({ seconds: String(duration), resolution, ratio });
  return `https://${RESULTS_HOST}/${id}.mp4?${facts.toString()}`;
}
