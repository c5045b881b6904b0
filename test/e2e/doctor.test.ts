import { statSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import type { DoctorLine } from '../../deploy/cli/doctor/doctor-line.ts';
import { askDoctor } from '../harness/ask-doctor.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { httpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { CHANNEL, KEYS, SIGNING_KEY, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';

const TIMEOUT_MS = 120_000;
/** No task of another test is unfinished for so long. */
const SOFT_SECONDS = 2;
const WRONG_KEY = 'planted-wrong-key-of-a-channel';

describeWith(natsServer, 'four processes', (bus) => {
  describeWith(postgresServer, 'each with a database of its own', (postgres) => {
    let upstream: ScriptedUpstream;
    let nats: CuttableLine;
    let database: CuttableLine;
    let program: Program;
    let written: TestConfig;

    beforeAll(async () => {
      upstream = await startScriptedUpstream();
      nats = await openCuttableLine(bus());
      const databases = await newDatabases(postgres());
      database = await openCuttableLine(databases.billing);
      program = await newProgram(
        'four processes',
        {
          ...{ upstream: upstream.host, bus: nats.url, databases: { ...databases, billing: database.url } },
          tasks: { poll: { first: '200ms', factor: 1.5, max: '500ms', soft_deadline: `${SOFT_SECONDS}s` } },
        },
        (config) =>
          (written = {
            ...config,
            diagnosis: { profiles: true },
            channels: [
              ...config.channels,
              { ...config.channels[0], id: 'wrong-key', api_key: WRONG_KEY, upstream_account: 'another' },
            ],
          } as unknown as TestConfig),
      );
      await program.start();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await program?.end();
      await Promise.all([upstream?.stop(), nats?.stop(), database?.stop()]);
    }, TIMEOUT_MS);

    const examined = () => askDoctor(program);
    const bad = (lines: readonly DoctorLine[]): readonly string[] =>
      lines.flatMap(({ subject, part, grade }) =>
        // The configuration of the tests names a model without a price.
        grade === 'ok' || subject === 'configuration'
          ? []
          : [`${grade} ${subject.replace(/ \(.*\)$/, '')}${part === '' ? '' : ` ${part}`}`],
      );

    test(
      'the doctor asks every service, and finds a channel with a wrong key and nothing else',
      async () => {
        const { lines, result } = await examined();

        expect(bad(lines)).toEqual(['fail channel wrong-key test']);
        expect(result.code).toBe(2);
        const parts = lines.map(({ subject, part }) => `${subject.replace(/ \(.*\)$/, '')} ${part}`.trim());
        expect(parts).toEqual(
          expect.arrayContaining([
            'configuration',
            ...['gateway', 'tasks', 'billing', 'media'],
            ...['tasks', 'billing', 'media'].flatMap((name) => [`${name} database`, `${name} schema`, `${name} bus`]),
            ...['gateway', 'tasks', 'billing', 'media'].map((name) => `${name} traces`),
            'tasks attention',
            'tasks outbox',
            'tasks settlement',
            'tasks late tasks',
            'tasks jobs',
            'billing rolling check',
            'gateway relay channels',
            'media bytes',
            'clock between the services',
            'ledger',
          ]),
        );
        expect(lines.find(({ subject }) => subject === 'channel wrong-key')).toMatchObject({
          advice: expect.stringContaining('api_key'),
        });
      },
      TIMEOUT_MS,
    );

    test(
      'the doctor names a stopped PostgreSQL and a stopped NATS, and still asks everything else',
      async () => {
        database.cut();
        nats.cut();
        await until(async () => bad((await examined()).lines).includes('fail tasks bus'));
        const { lines, result } = await examined();
        database.mend();
        nats.mend();

        expect(result.code).toBe(2);
        expect(bad(lines)).toEqual(
          expect.arrayContaining(['fail billing database', 'fail tasks bus', 'fail gateway bus', 'fail media bus']),
        );
        expect(lines.find(({ subject, part }) => subject.startsWith('billing') && part === 'database')).toMatchObject({
          detail: expect.stringMatching(/^billing cannot use the database billing at \S+ as the role \S+: /),
          advice: expect.stringContaining('billing.database'),
        });
        expect(lines.find(({ subject, part }) => subject.startsWith('tasks') && part === 'database')).toMatchObject({
          grade: 'ok',
        });
        expect(lines.filter(({ grade, advice }) => grade !== 'ok' && advice === '')).toEqual([]);
        await until(async () => bad((await examined()).lines).length === 1);
      },
      TIMEOUT_MS,
    );

    test(
      'the doctor says that a database hangs which takes connections, and what else billing knows',
      async () => {
        let lines: readonly DoctorLine[] = [];
        await until(async () => {
          database.freeze();
          ({ lines } = await examined());
          return bad(lines).includes('fail billing database');
        });
        // what was frozen is lost, and billing connects again
        database.cut();
        database.mend();

        expect(lines.find(({ subject, part }) => subject.startsWith('billing') && part === 'database')).toMatchObject({
          detail: expect.stringMatching(/^gave no answer within \S+ s$/),
          advice: expect.stringContaining('billing.database'),
        });
        expect(
          lines.find(({ subject, part }) => subject.startsWith('billing') && part === 'rolling check'),
        ).toMatchObject({
          grade: 'ok',
        });
        await until(async () => bad((await examined()).lines).length === 1);
      },
      TIMEOUT_MS,
    );

    test(
      'the doctor names a task past its soft deadline, with the command that shows it',
      async () => {
        const demo = httpCaller(program.base, KEYS.demo);
        const taskId = await demo.create('/v1/videos', {
          ...{ model: 'Alpha-H3', prompt: 'a boat [gate]', seconds: '4', size: '1280x720' },
        });
        let late: DoctorLine | undefined;
        await until(async () => {
          late = (await examined()).lines.find(({ part }) => part === 'late tasks');
          return late?.grade === 'warn';
        });
        const [command] = late?.advice.split('; ') ?? [];
        const shown = await program.command(...(command ?? '').split(' ').slice(1));
        upstream.openGate();
        await demo.finish(taskId);

        expect(late?.detail).toMatch(
          new RegExp(`: 1; the oldest: ${taskId} \\(\\d+ (?:s|min), channel ${CHANNEL}\\)$`),
        );
        expect(shown).toMatchObject({ code: 0, json: { tasks: [{ record: { task: { id: taskId } } }] } });
        expect(bad((await examined()).lines)).toHaveLength(1);
      },
      TIMEOUT_MS,
    );

    test(
      'the doctor shows no key and no password',
      async () => {
        const { out, err } = (await examined()).result;
        const typed = program.spawnCommand('doctor');
        const text = (await Promise.all([readAll(typed.stdout), readAll(typed.stderr)])).join('');
        const password = new URL(written.billing.database ?? '').password;

        for (const secret of [SIGNING_KEY, UPSTREAM_KEY, WRONG_KEY, callerKey('console'), password])
          if (secret !== '') expect(out + err + text).not.toContain(secret);
        expect(text).toContain('channel wrong-key');
      },
      TIMEOUT_MS,
    );

    test.each(['gateway', 'tasks', 'billing', 'media'])(
      'an operator takes a profile of %s, in a file that only its owner can read',
      async (service) => {
        const file = path.join(written.data_dir, `${service}.cpuprofile`);
        const { code, json, err } = await program.command('profile', service, '--cpu', '1s', '--out', file);

        expect({ code, err }).toEqual({ code: 0, err: '' });
        expect(json).toMatchObject({ service, file, process: expect.stringMatching(/:\d+$/) });
        expect(statSync(file).mode & 0o777).toBe(0o600);
        expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ nodes: expect.any(Array) });
        expect((await program.command('profile', service, '--cpu', '1s', '--out', file)).err).toContain(
          'cannot be created',
        );
      },
      TIMEOUT_MS,
    );

    test(
      'with another signing key the doctor says that the services do not know it, and takes no profile',
      async () => {
        const stranger = await newProgram('four processes', { upstream: upstream.host, bus: nats.url }, (config) => ({
          ...config,
          gateway: written.gateway,
          tasks: written.tasks,
          billing: written.billing,
          media: written.media,
          signing_key: 'another-key-than-that-of-the-services',
        }));
        const result = await stranger.command('doctor');
        const { lines } = result.json as { readonly lines: readonly DoctorLine[] };
        const file = path.join(written.data_dir, 'stranger.heapsnapshot');
        const refused = await stranger.command('profile', 'tasks', '--heap', '--out', file);
        await stranger.end();

        expect(result.code).toBe(2);
        for (const name of ['gateway', 'tasks', 'billing', 'media'])
          expect(lines.find(({ subject }) => subject === name)).toMatchObject({
            grade: 'fail',
            detail: expect.stringContaining('does not know the key'),
            advice: expect.stringContaining('signing_key'),
          });
        expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('invalid_caller_key') });
        expect(() => statSync(file)).toThrow();
      },
      TIMEOUT_MS,
    );
  });
});
