/** Test files that `npm test` leaves out, and the reason why they take long. `npm run test:all` runs them too. */
export interface LongTests {
  /** A folder with a slash at its end, or a file, from the root of the repository. */
  readonly path: string;
  readonly reason: string;
}

/** Sorted by path. A file inside a folder of the list has an entry of its own only for its reason. */
export const LONG_TESTS: readonly LongTests[] = [
  { path: 'deploy/cli/commands/adapter-commands.test.ts', reason: 'runs the contract suite through the command line' },
  { path: 'deploy/cli/commands/migrate-commands.test.ts', reason: 'migrates real databases through the command line' },
  { path: 'deploy/local/sandbox/render/render-video.test.ts', reason: 'encodes and decodes whole videos' },
  { path: 'services/billing/src/operations/accounts/accounts.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/billing/src/operations/calls/calls.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/billing/src/operations/interleaving.test.ts', reason: 'seeded orders of calls on both engines' },
  { path: 'services/billing/src/operations/tokens/managed-tokens.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/gateway/src/json-bytes/json-bytes.fuzz.test.ts', reason: 'thousands of seeded documents' },
  { path: 'services/media/src/http/serve-s3.test.ts', reason: 'reads results from an S3 server' },
  { path: 'services/media/src/operations/every-moment.test.ts', reason: 'kills an ingest at every moment' },
  {
    path: 'services/media/src/operations/garbage/garbage-races.test.ts',
    reason: 'seeded races of readers and removals',
  },
  { path: 'services/media/src/probe/claims/check-claims.test.ts', reason: 'thousands of seeded files' },
  { path: 'services/media/src/probe/containers/movie-bombs.test.ts', reason: 'parses files made to exhaust a parser' },
  { path: 'services/media/src/probe/parsers/faulty-parsers.test.ts', reason: 'kills and hangs parser processes' },
  { path: 'services/media/src/probe/pool/probe-pool.test.ts', reason: 'starts and stops parser processes' },
  { path: 'services/media/src/rpc/crash.test.ts', reason: 'kills the service at every step of a stage' },
  { path: 'services/media/src/rpc/ingest-result.test.ts', reason: 'fetches, checks and stores real videos' },
  { path: 'services/media/src/rpc/stage-media.test.ts', reason: 'fetches, checks and stores references of every kind' },
  { path: 'services/media/src/thumbnails/ffmpeg/frame-extractor.test.ts', reason: 'decodes videos with ffmpeg' },
  { path: 'services/platform/src/bus/bus.test.ts', reason: 'NATS servers that stop and return' },
  { path: 'services/platform/src/bus/nats-cluster.test.ts', reason: 'a cluster of three NATS servers' },
  { path: 'services/platform/src/diagnosis/record-profile.test.ts', reason: 'records profiles of seconds' },
  { path: 'services/platform/src/rpc/replicas-behind-a-name.test.ts', reason: 'waits for connections to age' },
  { path: 'services/platform/src/sql/postgres-limits.test.ts', reason: 'a PostgreSQL that runs out of connections' },
  { path: 'services/tasks/src/channels/own-adapters/sandbox/escapes.test.ts', reason: 'stops adapters that never end' },
  { path: 'services/tasks/src/operations/batches/batches.crash.test.ts', reason: 'kills a batch at every step' },
  { path: 'services/tasks/src/operations/webhooks/record-attempts.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/tasks/src/store/drawn-sequences.test.ts', reason: 'seeded sequences on both engines' },
  { path: 'services/tasks/src/store/tasks/sql-permits.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/tasks/src/store/tasks/sql-task-store.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/tasks/src/store/webhooks/sql-webhooks.test.ts', reason: 'runs every case on both engines' },
  { path: 'services/tasks/src/workers/fair-shares.test.ts', reason: 'minutes of turns in simulated time' },
  { path: 'test/attacks/', reason: 'attacks a whole program' },
  { path: 'test/browser/', reason: 'a browser' },
  { path: 'test/browser/attention-journeys.test.ts', reason: 'a browser, and tasks that wait for a person' },
  { path: 'test/browser/every-page.test.ts', reason: 'a browser opens every page in five variants' },
  { path: 'test/browser/missing-files.test.ts', reason: 'a browser, and every file of the console missing in turn' },
  { path: 'test/browser/outages.test.ts', reason: 'a browser, and servers that stop and return' },
  { path: 'test/cluster/', reason: 'a cluster of one machine' },
  { path: 'test/contract/contract.test.ts', reason: 'the public contract, row by row, against a whole program' },
  { path: 'test/e2e/', reason: 'whole programs in processes of their own' },
  { path: 'test/e2e/content.test.ts', reason: 'results of hundreds of megabytes' },
  { path: 'test/e2e/doctor-hangs.test.ts', reason: 'services that hang until the deadline of the doctor' },
  { path: 'test/e2e/examples-kills.test.ts', reason: 'runs each example under kills' },
  { path: 'test/e2e/examples.test.ts', reason: 'runs each example against a program' },
  { path: 'test/e2e/four-processes.test.ts', reason: 'four processes, NATS and PostgreSQL, with kills' },
  { path: 'test/e2e/one-program.test.ts', reason: 'every way of a video through one program' },
  { path: 'test/e2e/signing-keys.test.ts', reason: 'restarts programs as keys change' },
  { path: 'test/e2e/trace-kills.test.ts', reason: 'kills a program after each create, with the settings that we ship' },
  { path: 'test/e2e/watches.test.ts', reason: 'clients that wait while replicas stop' },
  { path: 'test/e2e/webhook-kills.test.ts', reason: 'kills between the attempts of a delivery' },
  { path: 'test/faults/', reason: 'kills, outages and cuts of a cluster under load' },
  { path: 'test/image/', reason: 'the container image' },
  { path: 'test/monitoring/', reason: 'a real Prometheus that scrapes programs' },
  { path: 'test/simulation/', reason: 'soaks with seeded kills' },
];

/** Files in a folder of {@link LONG_TESTS} that run with `npm test` all the same: one way through the whole product. */
export const SHORT_IN_LONG_FOLDERS: readonly string[] = ['test/e2e/start.test.ts'];

/** Reports whether `npm test` leaves out the file, a path from the root of the repository. */
export function isLongTest(file: string): boolean {
  return !SHORT_IN_LONG_FOLDERS.includes(file) && LONG_TESTS.some((long) => covers(long, file));
}

/** Returns the reason why the file takes long; the entry that names it best decides. */
export function findReason(file: string): string | undefined {
  return LONG_TESTS.findLast((long) => covers(long, file))?.reason;
}

function covers({ path }: LongTests, file: string): boolean {
  return path.endsWith('/') ? file.startsWith(path) : file === path;
}
