import type { FoundBug } from './plant-bug.ts';

const PRINCIPALS = 'services/gateway/src/operations/principals.ts';
const CALL_MONEY = 'services/gateway/src/relay/charges/call-money.ts';
const WELL = 'a call that ends well is charged the usage that its upstream reports';
const HIDDEN = 'nothing of an upstream is in an answer';

/** The planted bugs of the gateway, of media, of webhooks and of queued calls that are found. */
export const GATEWAY_BUGS: Readonly<Record<string, FoundBug>> = {
  'whole-calls-are-free': {
    fault: 'A relayed call that ends well releases its hold.',
    edits: [
      {
        file: CALL_MONEY,
        text: "return known === undefined ? HOLD : { basis: 'usage', usage: known };",
        becomes: 'return known === undefined ? HOLD : RELEASED;',
      },
    ],
    first: 1000,
    seeds: 40,
    rules: [WELL],
  },
  'prices-of-tokens-are-swapped': {
    fault: 'The tokens of an answer cost as much as those of its question, also of a streamed and of a queued call.',
    edits: [
      {
        file: 'services/billing/src/domain/token-rates.ts',
        text: "input: { side: 'input', keys: ['input'] },",
        becomes: "input: { side: 'input', keys: ['output'] },",
      },
    ],
    first: 1000,
    seeds: 5,
    rules: [WELL],
  },
  'streams-skip-what-a-restore-repeats': {
    fault: 'A stream whose last event is not there any more, because of a restore, goes on after the newest one.',
    edits: [
      {
        file: 'services/tasks/src/operations/webhooks/watch-events.ts',
        text: 'if (seq === undefined) throw eventExpired();',
        becomes: 'if (seq === undefined) return (await webhooks.lastEvent(accountId)) ?? BEGINNING;',
      },
    ],
    first: 1072,
    seeds: 1,
    rules: ['a stream misses no event'],
  },
  'streams-are-refused': {
    fault: 'A stream of events is refused because others may open.',
    edits: [
      {
        file: 'services/gateway/src/operations/stream-permits.ts',
        text: 'if (full < 0 && all.tryAcquire())',
        becomes: 'if (full < 0 && !all.tryAcquire())',
      },
    ],
    first: 1000,
    seeds: 40,
    rules: ['without faults a stream of an account below its limits opens'],
  },
  'models-name-their-upstream': {
    fault: "A relayed answer has the upstream's name of its model.",
    edits: [
      {
        file: 'services/gateway/src/json-bytes/hide-model.ts',
        text: 'if (publicModel === upstreamModel) return',
        becomes: 'return',
      },
    ],
    first: 1,
    seeds: 5,
    rules: [HIDDEN],
  },
  'revoked-tokens-stay-known': {
    fault: 'The gateway knows a token for hours, and does not hear that it is revoked.',
    edits: [
      { file: PRINCIPALS, text: 'const KNOWN_FRESH_MS = 10_000;', becomes: 'const KNOWN_FRESH_MS = 10_000_000;' },
      {
        file: PRINCIPALS,
        text: 'if (listTokenAndMakers(principal).includes(tokenId)) known.delete(digest);',
        becomes: 'listTokenAndMakers(principal);',
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a revoked token is refused'],
  },
  'streams-skip-what-they-missed': {
    fault: 'A stream of events goes on at the newest event, and not where its last connection ended.',
    edits: [
      {
        file: 'services/tasks/src/operations/webhooks/watch-events.ts',
        text: 'return { id: cursor, seq };',
        becomes: 'return (await webhooks.lastEvent(accountId)) ?? { id: cursor, seq };',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['a stream misses no event'],
  },
  'lost-calls-are-made-again': {
    fault: 'A queued call whose process died is made again, although its upstream may have answered it.',
    edits: [
      {
        file: 'services/tasks/src/domain/job.ts',
        text: "return repeatable && starts < STARTS_MAX ? 'queue' : 'unknown';",
        becomes: "return starts < STARTS_MAX ? 'queue' : 'unknown';",
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['a call that must not be repeated is made once'],
  },
  'deliveries-succeed-by-any-status': {
    fault: 'A webhook counts as delivered whatever its receiver answers.',
    edits: [
      {
        file: 'services/tasks/src/domain/rules/delivery-schedule.ts',
        text: "return error === '' && status >= 200 && status < 300;",
        becomes: 'return true;',
      },
    ],
    first: 1,
    seeds: 10,
    rules: ['a delivered event has arrived'],
  },
  'events-without-deliveries': {
    fault: 'An event gets its place in the stream, and no delivery.',
    edits: [
      {
        file: 'services/tasks/src/store/webhooks/sql-events.ts',
        text: '...buildDeliveries(newId, addressed, now),',
        becomes: '...buildDeliveries(newId, addressed.slice(1), now),',
      },
    ],
    first: 1,
    seeds: 5,
    rules: ['the end of a task with a webhook has a delivery'],
  },
  'results-expire-at-once': {
    fault: 'The sweep of the media service ends results that are still kept.',
    edits: [
      {
        file: 'services/media/src/operations/garbage/collect-garbage.ts',
        text: 'store.expireObjects(now, BATCH_MAX)',
        becomes: 'store.expireObjects(now + 30 * 24 * 3_600_000, BATCH_MAX)',
      },
    ],
    first: 1,
    seeds: 60,
    rules: ['the result of a completed task can be read'],
  },
};
