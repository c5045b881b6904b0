import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI from 'openai';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newDatabases } from '../harness/databases.ts';
import { readEvents } from '../harness/event-reader.ts';
import type { EventReader, ReadEvent } from '../harness/event-reader.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { seeded } from '../harness/seeded.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Received, WebhookReceiver } from '../harness/webhook-receiver.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { tasksOf, untilSettled } from '../simulation/books.ts';
import { aChat, untilEnded, withJobs } from './async-calls.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const TIMEOUT_MS = 120_000;
const TASKS = 60;
const JOBS = 6;
/** The tasks that the upstream has before the first kill, so that no kill can leave their outcome unknown. */
const CERTAIN = 12;
/** The ends of the tasks are spread over this time. */
const SPREAD_MS = 12_000;
const KILLED = ['gateway', 'tasks', 'media', 'tasks', 'media'] as const;
/** How long a kill waits for a delivery that it can disturb. */
const NEXT_MS = 2000;
const SETTLED_MS = 90_000;
/** Includes the end of the leases of a worker that was killed, after 10 s. */
const LEASED_MS = 60_000;
/** Nothing has to wait for the end of a lease. */
const SOON_MS = 45_000;
const RETRY_MS = 50;
const EVENT_TYPES = ['video.completed', 'video.failed', 'job.completed', 'job.failed'];
/** Two videos leave less than a tenth of it. */
const LEAN = { id: 'lean', credit: '0.85', tokens: [{ key: 'sk-lean-0123456789', models: ['*'] }] };
const PATHS = { thin: '/thin', full: '/full', default: '/of-the-request' } as const;
type EndpointName = keyof typeof PATHS;

interface Subject {
  readonly id: string;
  readonly type: string;
  /** Whether its request named a URL. */
  readonly hasUrl: boolean;
}

const idOf = ({ headers }: Received): string => headers['webhook-id'] ?? '';
const subjectOf = (body: string): string => (JSON.parse(body) as { data: { id: string } }).data.id;
const typeOf = (body: string): string => (JSON.parse(body) as { type: string }).type;
const video = (words: string): object => ({ model: 'Alpha-H3', prompt: words, seconds: '5', size: '1280x720' });

describeWith(natsServer, `webhooks of processes that are killed (REELGATE_SEED=${SEED})`, (bus) => {
  describeWith(postgresServer, 'each with a database of its own', (postgres) => {
    let upstream: ScriptedUpstream;
    let relay: RelayUpstream;
    let receiver: WebhookReceiver;
    let line: CuttableLine;
    let program: Program;
    let demo: HttpCaller;
    let lean: HttpCaller;
    const readers: EventReader[] = [];
    const endpoints = new Map<EndpointName, { readonly id: string; readonly secret: string }>();

    beforeAll(async () => {
      console.log(`REELGATE_SEED=${SEED}`);
      [upstream, relay, receiver] = await Promise.all([
        startScriptedUpstream(),
        startRelayUpstream(),
        startWebhookReceiver(),
      ]);
      line = await openCuttableLine(bus());
      const servers = { upstream: upstream.host, bus: line.url, databases: await newDatabases(postgres()) };
      program = await newProgram('four processes', servers, withWebhooks(relay.host, receiver.host));
      await program.start();
      demo = httpCaller(program.base, KEYS.demo);
      lean = httpCaller(program.base, LEAN.tokens[0]!.key);
      for (const name of ['thin', 'full'] as const) {
        const { json } = await addEndpoint(demo, PATHS[name], { payload: name, event_types: EVENT_TYPES });
        endpoints.set(name, { id: json.id, secret: json.signing_secret });
      }
      const { json } = await demo.call('POST', '/v1/webhook_endpoints/default/rotate_secret', {});
      endpoints.set('default', { id: 'default', secret: json.signing_secret });
    }, TIMEOUT_MS);
    afterAll(async () => {
      line?.mend();
      await Promise.all(readers.map((reader) => reader.stop()));
      await program?.end();
      await Promise.all([line, upstream, relay, receiver].map((one) => one?.stop()));
    }, TIMEOUT_MS);

    const addEndpoint = async (owner: HttpCaller, path: string, more: object): Promise<Answer> => {
      const answer = await owner.call('POST', '/v1/webhook_endpoints', {
        name: path,
        url: receiver.url(path),
        ...more,
      });
      if (answer.status !== 200) throw new Error(`no endpoint: ${answer.text}`);
      return answer;
    };
    /** Hears all events of an account from the first on, over all ends of the stream. */
    const readAll = (key: string): EventReader => {
      const reader = readEvents(program.base, key, '?last_event_id=evt_0');
      readers.push(reader);
      return reader;
    };
    const subjectsAt = (path: string): ReadonlySet<string> =>
      new Set(receiver.at(path).map(({ body }) => subjectOf(body)));
    const pendingOf = async (endpointId: string): Promise<number> => {
      const path = `/v1/webhook_endpoints/${endpointId}/deliveries?state=pending&limit=100`;
      const { status, json } = await demo.call('GET', path);
      return status === 200 ? json.data.length : Number.NaN;
    };
    /** The requests at a path that ask for a subject. */
    const about = (path: string, subjects: readonly string[]): readonly Received[] =>
      receiver.at(path).filter(({ body }) => subjects.includes(subjectOf(body)));
    const makeVideos = (count: number, words: string): Promise<readonly string[]> =>
      Promise.all(
        Array.from({ length: count }, async () => accepted(() => demo.call('POST', '/v1/videos', video(words)))),
      );

    test('balance.low arrives once an account has less than a tenth of its credit', async () => {
      const { json } = await addEndpoint(lean, '/low', { event_types: ['balance.low'] });
      for (const words of ['[take:0]', '[take:0]']) await lean.finish(await lean.create('/v1/videos', video(words)));
      await until(() => receiver.at('/low').length > 0, SOON_MS);

      const [{ body, headers }] = receiver.at('/low') as [Received];
      expect(await new OpenAI({ apiKey: 'k' }).webhooks.unwrap(body, headers, json.signing_secret)).toEqual({
        object: 'event',
        id: headers['webhook-id'],
        type: 'balance.low',
        created_at: expect.any(Number),
        data: { id: 'lean', currency: 'USD', available: '0.05', last_credit: '0.85' },
      });
    });

    describe('after the kills', () => {
      let subjects: readonly Subject[];
      let certain: readonly string[];
      let heard: readonly ReadEvent[];

      beforeAll(async () => {
        const resumed = readAll(KEYS.demo);
        certain = await makeVideos(CERTAIN, '[take:4000]');
        await until(async () => (await tasksOf(program, 'demo')).every(({ admission }) => admission === 'accepted'));
        const [named] = await Promise.all([load(), kill()]);
        await program.ready();
        subjects = await untilAllEnded(named);
        const missing = (): readonly string[] =>
          Object.values(PATHS).flatMap((path) => {
            const seen = subjectsAt(path);
            const wanted = subjects.filter(({ hasUrl }) => hasUrl || path !== PATHS.default);
            return wanted.filter(({ id }) => !seen.has(id)).map(({ id }) => `${path} ${id}`);
          });
        await until(() => missing().length === 0, LEASED_MS).catch(() => {
          throw new Error(`these were never delivered: ${missing().join(', ')}\n${program.output()}`);
        });
        await until(() => resumed.events.length >= subjects.length, SOON_MS).catch(() => undefined);
        heard = [...resumed.events];
        console.log(
          `${subjects.length} events, ${receiver.requests.length} requests, ` +
            `${resumed.connections()} connections of the stream`,
        );
      }, 3 * TIMEOUT_MS);

      /** Creates tasks and jobs whose ends are spread. Returns the ids of those that named a URL, and of all jobs. */
      async function load(): Promise<{ readonly withUrl: ReadonlySet<string>; readonly jobs: readonly string[] }> {
        const { whole, chance } = seeded(SEED + 1);
        const withUrl = new Set<string>();
        const url = { webhook_url: receiver.url(PATHS.default) };
        const tasks = Array.from({ length: TASKS }, async (_, index) => {
          const words = `[take:${whole(0, SPREAD_MS)}]${chance() < 0.25 ? ' [fail]' : ''}`;
          const hasUrl = chance() < 0.5;
          const body = { ...video(words), ...(hasUrl ? url : {}) };
          const headers = { 'idempotency-key': `video-${index}` };
          const id = await accepted(() => demo.call('POST', '/v1/videos', body, headers));
          if (hasUrl) withUrl.add(id);
        });
        const jobs = Array.from({ length: JOBS }, async (_, index) => {
          const mark = `job-${index}`;
          const words = chance() < 0.25 ? '[status:400]' : `[slow:${whole(0, SPREAD_MS / 2)}]`;
          const target = `/async/v1/chat/completions?webhook_url=${encodeURIComponent(url.webhook_url)}`;
          const headers = { 'idempotency-key': mark };
          const id = await accepted(() => demo.call('POST', target, aChat(mark, words), headers));
          withUrl.add(id);
          return id;
        });
        await Promise.all(tasks);
        return { withUrl, jobs: await Promise.all(jobs) };
      }

      /**
       * Kills processes while deliveries run: the gateway between the send and the record, media within the send. The
       * gateway is also the last, because the receivers that it serves then rest until their leases end.
       */
      async function kill(): Promise<void> {
        const { whole, chance } = seeded(SEED);
        const shuffled = KILLED.map((service) => ({ service, lot: chance() }))
          .toSorted((one, other) => one.lot - other.lot)
          .map(({ service }) => service);
        for (const service of [...shuffled, 'gateway' as const]) {
          await sent(service !== 'tasks' && chance() < 0.5 ? 'hang' : 204, whole(1, 8));
          await program.killOne(service, whole(0, 500));
          if (chance() < 0.7) await program.ready();
        }
        console.log(`REELGATE_SEED=${SEED} killed: ${shuffled.join(', ')}, gateway`);
      }

      /** Resolves at the last of some requests that receivers get, or when none of them come. */
      async function sent(how: 204 | 'hang', requests: number): Promise<void> {
        const before = receiver.requests.length;
        for (const path of Object.values(PATHS)) receiver.answer(path, how);
        const wanted = how === 'hang' ? 1 : requests;
        await until(() => receiver.requests.length >= before + wanted, NEXT_MS).catch(() => undefined);
        for (const path of Object.values(PATHS)) receiver.answer(path, 204);
      }

      async function untilAllEnded({ withUrl, jobs }: Awaited<ReturnType<typeof load>>): Promise<readonly Subject[]> {
        const tasks = await untilSettled(program, 'demo', SETTLED_MS);
        const types: Readonly<Record<string, string>> = {
          TASK_STATE_COMPLETED: 'video.completed',
          TASK_STATE_FAILED: 'video.failed',
        };
        const subjectOfTask = tasks.flatMap(({ id, state }) => {
          const type = types[state];
          return type === undefined ? [] : [{ id, type, hasUrl: withUrl.has(id) }];
        });
        const subjectOfJob = jobs.map(async (id) => {
          const { status } = (await untilEnded(demo, id, SETTLED_MS)).json as { status: string };
          return { id, type: `job.${status}`, hasUrl: true };
        });
        return [...subjectOfTask, ...(await Promise.all(subjectOfJob))];
      }

      test('every job and every task that the upstream had before the kills has ended', () => {
        expect(subjects.map(({ id }) => id)).toEqual(expect.arrayContaining([...certain]));
        expect(subjects.filter(({ type }) => type.startsWith('job.'))).toHaveLength(JOBS);
      });

      test('every ended task and job has one event, of the type that its end has', () => {
        const ids = new Map<string, Set<string>>();
        const types = new Map<string, Set<string>>();
        for (const request of Object.values(PATHS).flatMap((path) => receiver.at(path))) {
          const subject = subjectOf(request.body);
          ids.set(subject, (ids.get(subject) ?? new Set()).add(idOf(request)));
          types.set(subject, (types.get(subject) ?? new Set()).add(typeOf(request.body)));
        }
        expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
        expect(new Map([...types].map(([subject, [type]]) => [subject, type]))).toEqual(
          new Map(subjects.map(({ id, type }) => [id, type])),
        );
        expect(new Set([...ids.values()].flatMap((one) => [...one])).size).toBe(subjects.length);
      });

      test.each(Object.keys(PATHS) as EndpointName[])('%s got every event, each signed', async (name) => {
        const wanted = subjects.filter(({ hasUrl }) => hasUrl || name !== 'default').map(({ id }) => id);
        const { secret } = endpoints.get(name)!;
        const { webhooks } = new OpenAI({ apiKey: 'k' });

        expect(subjectsAt(PATHS[name])).toEqual(new Set(wanted));
        for (const { body, headers } of receiver.at(PATHS[name]))
          expect(await webhooks.unwrap(body, headers, secret)).toMatchObject({ id: headers['webhook-id'] });
      });

      test(
        'no delivery is left pending',
        async () => {
          for (const { id } of endpoints.values()) await until(async () => (await pendingOf(id)) === 0, LEASED_MS);
        },
        TIMEOUT_MS,
      );

      test('a stream that was resumed has each event once, in the order of the places', async () => {
        const whole = readAll(KEYS.demo);
        await until(() => whole.events.length >= subjects.length);

        expect(heard).toEqual(whole.events);
        expect(heard.map(({ data }) => subjectOf(data)).toSorted()).toEqual(subjects.map(({ id }) => id).toSorted());
      });
    });

    test(
      'deliveries go on while the bus is away',
      async () => {
        const taskIds = await makeVideos(10, '[gate]');
        line.cut();
        upstream.openGate();
        const arrived = (): boolean =>
          about(PATHS.thin, taskIds).length >= taskIds.length && about(PATHS.full, taskIds).length >= taskIds.length;
        await until(arrived, SOON_MS).finally(() => line.mend());
        await program.ready();

        const later = await makeVideos(1, '[take:0]');
        await until(() => about(PATHS.thin, later).length > 0, SOON_MS);
      },
      TIMEOUT_MS,
    );

    test(
      'a gateway that is stopped while it delivers repeats nothing that it has recorded, and the next one goes on at once',
      async () => {
        const taskIds = await makeVideos(40, '[gate]');
        for (const path of [PATHS.thin, PATHS.full]) receiver.answer(path, 204, { afterMs: 200 });
        upstream.openGate();
        await until(() => about(PATHS.thin, taskIds).length >= 6, SOON_MS);
        expect(await program.signal('gateway', 'SIGTERM')).toBe(0);
        const before = about(PATHS.thin, taskIds).length;
        program.startOne('gateway');
        await program.ready();
        await until(() => about(PATHS.thin, taskIds).length >= taskIds.length, SOON_MS);
        for (const { id } of endpoints.values()) await until(async () => (await pendingOf(id)) === 0, SOON_MS);

        expect(before).toBeLessThan(taskIds.length);
        for (const path of [PATHS.thin, PATHS.full])
          expect(
            about(path, taskIds)
              .map(({ body }) => subjectOf(body))
              .toSorted(),
          ).toEqual(taskIds.toSorted());
      },
      TIMEOUT_MS,
    );

    test(
      'a delivery that a stop cuts off is sent again at once by the next process, under the same id',
      async () => {
        const path = '/cut-off';
        receiver.answer(path, 'hang');
        const body = { ...video('[take:0]'), webhook_url: receiver.url(path) };
        await accepted(() => demo.call('POST', '/v1/videos', body));
        await until(() => receiver.at(path).length > 0, SOON_MS);
        expect(await program.signal('gateway', 'SIGTERM')).toBe(0);
        receiver.answer(path, 204);
        program.startOne('gateway');
        await program.ready();
        await until(async () => receiver.at(path).length > 1 && (await pendingOf('default')) === 0, SOON_MS);

        expect(receiver.at(path)).toHaveLength(2);
        expect(new Set(receiver.at(path).map(idOf)).size).toBe(1);
      },
      TIMEOUT_MS,
    );

    test('balance.low was one event for its credit', async () => {
      const { events } = readAll(LEAN.tokens[0]!.key);
      const low = (): readonly ReadEvent[] => events.filter(({ type }) => type === 'balance.low');
      await until(() => low().length > 0);

      expect(low()).toHaveLength(1);
      expect([...new Set(receiver.at('/low').map(idOf))]).toEqual(low().map(({ id }) => id));
    });
  });
});

/** Allows the receiver, and adds an account with little credit. */
function withWebhooks(relay: string, receiver: string): (config: TestConfig) => TestConfig {
  return (config) => {
    const made = withJobs(relay)(config);
    return {
      ...made,
      accounts: [...made.accounts, LEAN] as TestConfig['accounts'],
      webhooks: { allow: [receiver] },
    } as TestConfig;
  };
}

/** Repeats a create until it is accepted. Returns the id. */
async function accepted(create: () => Promise<Answer>): Promise<string> {
  const deadline = performance.now() + SETTLED_MS;
  for (;;) {
    const answer = await create().catch(() => undefined);
    if (answer !== undefined && [200, 202].includes(answer.status)) return (answer.json as { id: string }).id;
    if (performance.now() > deadline) throw new Error(`a create was never accepted: ${answer?.text ?? 'no answer'}`);
    await wait(RETRY_MS);
  }
}
