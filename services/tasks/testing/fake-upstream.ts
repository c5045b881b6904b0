import type { ExtraFields } from '@reelgate/adapter-kit';
import { listChoices, readExtraFields } from '../src/channels/extra-fields.ts';
import type {
  CallbackVerdict,
  Channel,
  ChannelFactory,
  FindOutcome,
  ListedWork,
  PlannedAttempt,
  PollResult,
  Submission,
} from '../src/channels/channel.ts';
import { recorded } from './journal.ts';
import type { Journal } from './journal.ts';

/** The submissions that reached an upstream, with or without an answer. */
export interface Submitted {
  readonly channel: string;
  readonly attempt: PlannedAttempt;
  readonly upstreamId: string;
}

/** The upstream behind all channels. It outlives every process of this service. */
export interface FakeUpstream {
  readonly submitted: readonly Submitted[];
  /** The answers of a channel to the next submissions. After them it accepts everything. */
  answer(channel: string, ...answers: readonly (Submission | Error)[]): void;
  /** The results of polls; without one the work is running. */
  readonly pollResults: Map<string, PollResult>;
  /** The content of every list; undefined: the list is unreadable. */
  works: readonly ListedWork[] | undefined;
  /** False: the upstream has no list. */
  canList: boolean;
  cancels: boolean;
  /** The outcomes of searches by the key of an attempt; undefined: the upstream cannot be asked. */
  found: ReadonlyMap<string, FindOutcome> | undefined;
  /** The most works that one poll reads. */
  pollManyMax: number;
  /** The extra fields that a channel takes; a channel without an entry takes all. */
  extraFields: ReadonlyMap<string, ExtraFields>;
  /** Channels whose calls are in the journal under their own names. */
  channels(journal: Journal): ChannelFactory;
}

export const accepted = (upstreamId: string): Submission => ({ outcome: 'accepted', upstreamId });
export const refused = (
  fault: Extract<Submission, { outcome: 'refused' }>['fault'],
  retryAfterMs?: number,
): Submission => ({ outcome: 'refused', fault, error: `its ${fault}`, retryAfterMs });
export const LOST: Submission = { outcome: 'unknown', error: 'timed out' };
const running = (progress?: number): PollResult => ({
  found: true,
  report: { phase: 'running', status: 'running', progress },
});
export const succeeded = (url = 'https://cdn.vendor.example/1.mp4'): PollResult => ({
  found: true,
  report: { phase: 'succeeded', status: 'succeeded', url },
});

export function fakeUpstream(): FakeUpstream {
  const submitted: Submitted[] = [];
  const answers = new Map<string, (Submission | Error)[]>();
  const upstream: FakeUpstream = {
    submitted,
    pollResults: new Map(),
    works: [],
    canList: true,
    cancels: true,
    found: undefined,
    pollManyMax: 1,
    extraFields: new Map(),
    answer: (channel, ...more) => void answers.set(channel, [...more]),
    channels: (journal) => (settings) => {
      const findExtraFaults: Channel['findExtraFaults'] = ({ extraJson }) => {
        const declared = upstream.extraFields.get(settings.id);
        return declared === undefined ? [] : readExtraFields(extraJson, declared).faults;
      };
      const listChoicesOf: Channel['listChoices'] = ({ extraJson }) =>
        listChoices(extraJson, upstream.extraFields.get(settings.id) ?? {});
      const channel: Channel = {
        settings,
        findExtraFaults,
        listChoices: listChoicesOf,
        submit: async (attempt) => {
          const upstreamId = `up-${submitted.length + 1}`;
          const answer = answers.get(settings.id)?.shift() ?? accepted(upstreamId);
          submitted.push({
            channel: settings.id,
            attempt,
            upstreamId: answer instanceof Error || answer.outcome !== 'accepted' ? upstreamId : answer.upstreamId,
          });
          if (answer instanceof Error) throw answer;
          return answer;
        },
        poll: async (upstreamId) => upstream.pollResults.get(upstreamId) ?? running(),
        get pollManyMax() {
          return upstream.pollManyMax;
        },
        pollMany: async (upstreamIds) =>
          new Map(upstreamIds.map((id) => [id, upstream.pollResults.get(id) ?? running()] as const)),
        get canFind() {
          return upstream.found !== undefined;
        },
        findSettlesAfterMs: Infinity,
        find: async ({ key }) => upstream.found?.get(key) ?? { outcome: 'cannot know', why: 'it was not told' },
        readCallback: async ({ headers, body }) => ({
          signature: readVerdict(headers['x-signature']),
          upstreamId: body.length === 0 ? undefined : Buffer.from(body).toString(),
        }),
        get canList() {
          return upstream.canList;
        },
        list: async (since) => upstream.works?.filter(({ createdAt }) => createdAt >= since),
        cancel: async () => upstream.cancels,
        test: async () => ({ ok: true, detail: 'the list was read' }),
        probe: async () => 'unclear',
        close: async () => undefined,
      };
      // it asks no upstream, so it is no call of the journal
      return Object.create(recorded(settings.id, channel, journal), {
        findExtraFaults: { value: findExtraFaults },
        listChoices: { value: listChoicesOf },
      });
    },
  };
  return upstream;
}

/** Work of the upstream as in its list. */
export function aWork(changes: Partial<ListedWork> & { readonly createdAt: number }): ListedWork {
  return {
    upstreamId: 'up-lost',
    kind: 'generation',
    model: 'MiniMax-H3',
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
    ...changes,
  };
}

/** The verdict that a test names in place of a signature. */
function readVerdict(named: string | undefined): CallbackVerdict {
  return named === 'wrong' || named === 'unchecked' ? named : 'unsigned';
}
