import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newAuthority, writeTls } from '@reelgate/platform/testing/certificates';
import { until } from '@reelgate/platform/testing/until';
import type { DoctorLine } from '../../deploy/cli/doctor/doctor-line.ts';
import { S3_KEYS, startS3Server } from '../../services/media/testing/s3-server.ts';
import type { S3Server } from '../../services/media/testing/s3-server.ts';
import { askDoctor } from '../harness/ask-doctor.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { redisServer } from '../servers/redis-server.ts';

const TIMEOUT_MS = 120_000;
/** The longest time of one command. */
const ASKED_MS = 60_000;
/** The days for which the certificate of each port is valid. */
const DAYS = { tasks: 365, billing: 1, media: 5 } as const;

describeWith(natsServer, 'four processes', (bus) => {
  describeWith(redisServer, 'with Redis, a bucket and certificates', (redis) => {
    let folder: string;
    let upstream: ScriptedUpstream;
    let server: S3Server;
    let shared: CuttableLine;
    let bucket: CuttableLine;
    let program: Program;

    const withAll = (config: TestConfig): TestConfig => {
      const authority = newAuthority();
      const listener = (name: keyof typeof DAYS) => {
        const issued = authority.issue({ days: DAYS[name] });
        const { certificate, key, ca } = writeTls(path.join(folder, name), issued, authority.certificate);
        return { tls: { certificate, key, client_ca: ca } };
      };
      const calls = writeTls(path.join(folder, 'calls'), authority.issue({ name: 'reelgate' }), authority.certificate);
      const blobs = `s3://${server.bucket}/kept?endpoint=${new URL(bucket.url).origin}`;
      return {
        ...config,
        gateway: { ...config.gateway, services: { ...config.gateway.services, tls: calls } } as TestConfig['gateway'],
        tasks: { ...config.tasks, ...listener('tasks') },
        billing: { ...config.billing, ...listener('billing') },
        media: { ...config.media, ...listener('media'), blobs, s3: S3_KEYS } as TestConfig['media'],
      };
    };

    beforeAll(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'reelgate-doctor-'));
      [upstream, server] = await Promise.all([startScriptedUpstream(), startS3Server()]);
      [shared, bucket] = await Promise.all([openCuttableLine(redis()), openCuttableLine(server.endpoint)]);
      const options = { upstream: upstream.host, bus: bus(), redis: shared.url };
      program = await newProgram('four processes', options, withAll);
      await program.start();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await program?.end();
      await Promise.all([upstream?.stop(), shared?.stop(), bucket?.stop()]);
      await server?.close();
      rmSync(folder, { recursive: true });
    }, TIMEOUT_MS);

    const examined = async (): Promise<readonly DoctorLine[]> => (await askDoctor(program)).lines;
    const named = ({ subject, part }: DoctorLine): string => `${subject.replace(/ \(.*\)$/, '')} ${part}`;
    const graded = (lines: readonly DoctorLine[], part: RegExp): readonly string[] =>
      lines.filter((line) => part.test(named(line))).map((line) => `${line.grade} ${named(line)}`);

    test(
      'the doctor finds every store connected, and the certificates that end soon',
      async () => {
        const lines = await examined();

        expect(graded(lines, / redis$| bytes$/)).toEqual(['ok gateway redis', 'ok tasks redis', 'ok media bytes']);
        expect(graded(lines, /^tasks certificate of (?!calls)/)).toEqual([expect.stringMatching(/^ok /)]);
        expect(graded(lines, /^media certificate of (?!calls)/)).toEqual([expect.stringMatching(/^warn /)]);
        expect(graded(lines, /^billing certificate of (?!calls)/)).toEqual([expect.stringMatching(/^fail /)]);
        expect(lines.find((line) => /^billing certificate of (?!calls)/.test(named(line)))).toMatchObject({
          detail: expect.stringMatching(/^expires \d{4}-/),
          advice: expect.stringContaining('renew'),
        });
      },
      ASKED_MS,
    );

    test(
      'the doctor names a Redis that is away, which stops nothing, and a bucket that does not answer',
      async () => {
        shared.cut();
        bucket.cut();
        let lines: readonly DoctorLine[] = [];
        await until(async () => {
          lines = await examined();
          return graded(lines, / redis$/).every((line) => !line.startsWith('ok'));
        }, ASKED_MS);
        shared.mend();
        bucket.mend();

        expect(graded(lines, / redis$| bytes$/)).toEqual([
          'warn gateway redis',
          'warn tasks redis',
          'fail media bytes',
        ]);
        expect(lines.find((line) => named(line) === 'media bytes')).toMatchObject({
          detail: expect.stringContaining(`the bucket ${server.bucket} does not answer`),
          advice: expect.stringContaining('media.blobs'),
        });
        await until(
          async () => graded(await examined(), / redis$| bytes$/).every((line) => line.startsWith('ok')),
          ASKED_MS,
        );
      },
      2 * ASKED_MS,
    );
  });
});
