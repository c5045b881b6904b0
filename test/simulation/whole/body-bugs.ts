import type { FoundBug } from './plant-bug.ts';

const NEVER_WHOLE = 'an order without a whole body makes no task';
const REFUSED = 'a body is refused with its status and code';
const FORM = 'services/gateway/src/http/bodies/receive-file-form.ts';
const CLIENT_FILES = 'services/gateway/src/clients/client-files.ts';
const RECEIVE = 'services/gateway/src/http/bodies/receive-body.ts';

/** The planted bugs of the bodies of requests, and of files in pieces. All of them are found. */
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
  'files-lose-their-first-piece': {
    fault: 'The first piece of a file is not stored.',
    edits: [{ file: FORM, text: 'const done = takeFile(bytes);', becomes: 'const done = takeFile(bytes.drop(1));' }],
    first: 1,
    seeds: 20,
    rules: ['a file has the bytes that were sent'],
  },
  'deleted-files-stay': {
    fault: 'The removal of a file is answered and does nothing.',
    edits: [
      {
        file: CLIENT_FILES,
        text: '(await rpc.removeFile({ accountId, fileId }, withDeadline(caller))).removed,',
        becomes: '(await rpc.getFile({ accountId, fileId }, withDeadline(caller))).file !== undefined,',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a deleted file is not found'],
  },
  'files-end-in-seconds': {
    fault: 'A file is kept for five seconds.',
    edits: [
      {
        file: 'services/media/src/operations/files/keep-files.ts',
        text: 'lifetimeMs: Math.min(lifetimeMs, files.lifetimeMs),',
        becomes: 'lifetimeMs: Math.min(lifetimeMs, 5000),',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['no file is lost'],
  },
  'unfinished-forms-are-files': {
    fault: 'A form that stops before its end is taken as if it were whole.',
    edits: [
      {
        file: FORM,
        text: 'await receiveBody(request, receiving, reader.write);',
        becomes: 'await receiveBody(request, receiving, reader.write).catch(() => undefined);',
      },
      {
        file: FORM,
        text: "parser.once('error', (error: unknown) =>",
        becomes: "parser.once('error', () => undefined, (error) =>",
      },
      { file: FORM, text: 'await Promise.race([finished, failed.promise]);', becomes: '' },
    ],
    first: 1,
    seeds: 40,
    rules: ['an upload without its end makes no file'],
  },
};
