import type { FoundBug } from './plant-bug.ts';

/** The planted bugs that only a team sees which calls the tasks service by its contract. All of them are found. */
export const RPC_BUGS: Readonly<Record<string, FoundBug>> = {
  'watches-skip-what-they-missed': {
    fault: 'A watch of an account goes on at the newest change, and not at its cursor.',
    edits: [
      {
        file: 'services/tasks/src/operations/watches/watch-tasks.ts',
        text: 'if (from !== undefined) yield* streamChangesSince(stream, from.since);',
        becomes: '',
      },
    ],
    first: 1,
    seeds: 40,
    rules: ['a watch leaves no change out'],
  },
  'cursors-of-watches-are-refused': {
    fault: 'The cursor of a watch that has sent all unfinished tasks is refused.',
    edits: [
      {
        file: 'services/tasks/src/operations/watches/watch-tasks.ts',
        text: '(?:,([0-9a-z]{1,11}),([0-9a-z_]{0,64}))?$/',
        becomes: '(?:,([0-9a-z]{1,11}),([0-9a-z_]{0,64}))$/',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a watch goes on where it ended'],
  },
  'callers-name-any-account': {
    fault: 'A caller with one account may name every account in its calls.',
    edits: [
      {
        file: 'services/platform/src/rpc/access.ts',
        text: "if (caller.accounts !== '*') assertAccounts(caller, caller.accounts, request);",
        becomes: '',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a caller asks only in the name of its accounts'],
  },
  'lists-by-a-key-have-every-task': {
    fault: 'A list by an idempotency key has all tasks of the account.',
    edits: [
      {
        file: 'services/tasks/src/rpc/task-read-methods.ts',
        text: "return request.idempotencyKey === '' ? filter : withKey(deps, filter, request.idempotencyKey);",
        becomes:
          "return request.idempotencyKey === '' ? filter : (await withKey(deps, filter, request.idempotencyKey)) && filter;",
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a list by a key has its task'],
  },
  'keys-of-calls-take-any-order': {
    fault: 'A key that comes over gRPC is not compared with the order that it belongs to.',
    edits: [
      {
        file: 'services/tasks/src/rpc/task-service.ts',
        text: 'idempotency: readIdempotency(request, () => digestOrder(order, beside)),',
        becomes: 'idempotency: readIdempotency(request, () => digestOrder({ ...order, content: [] }, beside)),',
      },
    ],
    first: 1,
    seeds: 20,
    rules: ['a key with another body is refused'],
  },
};
