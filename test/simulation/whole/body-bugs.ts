import type { FoundBug } from './plant-bug.ts';

const NEVER_WHOLE = 'an order without a whole body makes no task';
const REFUSED = 'a body is refused with its status and code';
const RECEIVE = 'services/gateway/src/http/bodies/receive-body.ts';

/** The planted bugs of the bodies of requests. All of them are found. */
export const BODY_BUGS: Readonly<Record<string, FoundBug>> = {
  'bodies-have-no-bound': {
    fault: 'A body beyond the bound is taken.',
    edits: ['declared', 'passed', 'arrived'].map((count) => ({
      file: RECEIVE,
      text: `if (${count} > bytesMax) throw tooLarge(bytesMax);`,
      becomes: '',
    })),
    first: 1,
    seeds: 20,
    rules: [NEVER_WHOLE, REFUSED],
  },
  'bodies-are-bounded-one-byte-early': {
    fault: 'A body of the largest size is refused.',
    edits: [
      {
        file: RECEIVE,
        text: 'if (arrived > bytesMax) throw tooLarge(bytesMax);',
        becomes: 'if (arrived >= bytesMax) throw tooLarge(bytesMax);',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a body in time and within its bound is taken'],
  },
  'slow-bodies-are-waited-for': {
    fault: 'A body may take any time.',
    edits: [
      {
        file: 'services/platform/src/http/body-arrivals.ts',
        text: "if (deadline + stalledMs < now) body.stop?.('slow');",
        becomes: "if (deadline + stalledMs < 0) body.stop?.('slow');",
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a body that is too slow is refused'],
  },
  'stopped-bodies-are-whole': {
    fault: 'A body that has stopped is taken as if it were whole.',
    edits: [
      {
        file: RECEIVE,
        text: "body.begin((why) => refuse(why === 'slow' ? tooSlow() : tooMany()));",
        becomes: "body.begin((why) => (why === 'slow' ? succeed() : refuse(tooMany())));",
      },
    ],
    first: 1,
    seeds: 20,
    rules: [NEVER_WHOLE, REFUSED],
  },
  'large-bodies-are-bad-requests': {
    fault: 'A body beyond the bound is refused with the status of a wrong one.',
    edits: [
      {
        file: 'services/gateway/src/problems/error-table.ts',
        text: 'body_too_large: row(413, VENDOR.params),',
        becomes: 'body_too_large: row(400, VENDOR.params),',
      },
    ],
    first: 1,
    seeds: 20,
    rules: [REFUSED],
  },
};
