import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DOCTOR_MS_MAX } from '../../deploy/cli/doctor/deadline.ts';
import type { DoctorLine } from '../../deploy/cli/doctor/doctor-line.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, ServiceProcess } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { startSilentServer } from '../harness/silent-server.ts';
import type { SilentServer } from '../harness/silent-server.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
const CALLS_MAX = 8;
const SERVICES: readonly ServiceProcess[] = ['gateway', 'tasks', 'billing', 'media'];

let upstream: ScriptedUpstream;
let silent: SilentServer;

beforeAll(async () => {
  [upstream, silent] = await Promise.all([startScriptedUpstream(), startSilentServer()]);
}, TIMEOUT_MS);
afterAll(async () => {
  await Promise.all([upstream?.stop(), silent?.stop()]);
});

const withoutProcess = ({ subject }: DoctorLine): string => subject.replace(/ \(.*\)$/, '');

/** The lines of one call, and its exit code. On a busy machine a doctor can start too late to ask, and says so. */
async function examined(program: Program): Promise<{ readonly lines: readonly DoctorLine[]; readonly code: number }> {
  for (let call = 0; call < CALLS_MAX; call += 1) {
    const { json, code } = await program.command('doctor');
    const { lines } = json as { readonly lines: readonly DoctorLine[] };
    if (!lines.some(({ subject }) => subject === 'doctor')) return { code, lines };
  }
  throw new Error(`each of ${CALLS_MAX} doctors started too late to ask`);
}

/** One call without --json: what it printed, part by part, and how long it took. */
async function watched(program: Program) {
  for (let call = 0; call < CALLS_MAX; call += 1) {
    const began = performance.now();
    const doctor = program.spawnCommand('doctor');
    const parts: string[] = [];
    doctor.stdout.on('data', (part: Buffer) => void parts.push(part.toString()));
    const [code] = (await once(doctor, 'close')) as [number];
    const tookMs = performance.now() - began;
    if (!/^warn {2}doctor /m.test(parts.join(''))) return { code, parts, tookMs };
  }
  throw new Error(`each of ${CALLS_MAX} doctors started too late to ask`);
}

const ofService = (lines: readonly DoctorLine[], service: string): readonly DoctorLine[] =>
  lines.filter((line) => withoutProcess(line) === service);

/** What is not in order. The configuration of the tests names a model without a price. */
const bad = (lines: readonly DoctorLine[]): readonly string[] =>
  lines
    .filter((line) => line.grade !== 'ok' && line.subject !== 'configuration')
    .map((line) => `${line.grade} ${withoutProcess(line)} ${line.part}`.trim());

const HUNG = {
  part: '',
  grade: 'fail',
  detail: expect.stringMatching(
    /^the process at 127\.0\.0\.1:\d+ accepts connections and gave no answer within \S+ s$/,
  ),
  advice: expect.stringMatching(/restart it$/),
};

describe('one program', () => {
  let program: Program;

  beforeAll(async () => {
    program = await newProgram('one program', { upstream: upstream.host });
    await program.start();
  }, TIMEOUT_MS);
  afterEach(() => {
    process.kill(program.pid(undefined), 'SIGCONT');
  });
  afterAll(async () => {
    await program?.end();
  }, TIMEOUT_MS);

  test(
    'a doctor of a stopped program prints what it knows at once, says the rest, and ends in time',
    async () => {
      process.kill(program.pid(undefined), 'SIGSTOP');
      const { code, parts, tookMs } = await watched(program);
      const printed = parts.join('');

      // the first line came alone, so it did not wait for the others
      expect(parts[0]).toMatch(/^warn {2}configuration [^\n]+\n[^\n]*\n?$/);
      expect(code).toBe(2);
      expect(tookMs).toBeLessThan(DOCTOR_MS_MAX);
      const lines = printed.split('\n');
      for (const service of SERVICES)
        expect(lines).toContainEqual(
          expect.stringMatching(new RegExp(`^fail {2}${service} +the process at .* gave no answer`)),
        );
      expect(lines).toContainEqual(expect.stringMatching(/^ +do: .*reelgate ledger verify/));
      expect(lines.at(-2)).toMatch(/^5 fail, \d warn, \d ok$/);
    },
    TIMEOUT_MS,
  );

  test(
    'after it goes on, the doctor finds nothing wrong',
    async () => {
      const { lines } = await examined(program);

      expect(bad(lines)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('a reader that leaves after the first line', () => {
  test(
    'ends the doctor without a word',
    async () => {
      const program = await newProgram('one program', { upstream: upstream.host });
      const doctor = program.spawnCommand('doctor');
      let errors = '';
      doctor.stderr.on('data', (part: Buffer) => (errors += part.toString()));
      doctor.stdout.once('data', () => doctor.stdout.destroy());
      const [code] = (await once(doctor, 'exit')) as [number];
      await program.end();

      expect({ code, errors }).toEqual({ code: 141, errors: '' });
    },
    TIMEOUT_MS,
  );
});

describe('a service whose port belongs to a program that never answers', () => {
  let program: Program;

  beforeAll(async () => {
    program = await newProgram('one program', { upstream: upstream.host }, (config) => {
      const services = { ...config.gateway.services, media: silent.host };
      return { ...config, gateway: { ...config.gateway, services } };
    });
    await program.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
  }, TIMEOUT_MS);

  test(
    'is named, and hides no other service, channel or book',
    async () => {
      const { lines, code } = await examined(program);

      expect(code).toBe(2);
      expect(ofService(lines, 'media')).toMatchObject([HUNG]);
      expect(bad(lines)).toEqual(['fail media']);
      expect(lines).toContainEqual(expect.objectContaining({ subject: 'ledger', part: '', grade: 'ok' }));
    },
    TIMEOUT_MS,
  );
});

describeWith(natsServer, 'four processes', (bus) => {
  let program: Program;

  beforeAll(async () => {
    program = await newProgram('four processes', { upstream: upstream.host, bus: bus() }, (config) => ({
      ...config,
      channels: [
        ...config.channels,
        { ...config.channels[0]!, id: 'silent', base_url: `http://${silent.host}`, upstream_account: 'silent' },
      ] as TestConfig['channels'],
    }));
    await program.start();
  }, TIMEOUT_MS);
  afterEach(() => {
    for (const service of SERVICES) process.kill(program.pid(service), 'SIGCONT');
  });
  afterAll(async () => {
    await program?.end();
  }, TIMEOUT_MS);

  test(
    'an upstream that hangs is named, beside another channel that works',
    async () => {
      const { lines } = await examined(program);

      expect(lines.filter(({ subject, part }) => subject === 'channel silent' && part === 'test')).toMatchObject([
        {
          grade: 'fail',
          detail: expect.stringMatching(/^the upstream gave no answer, after \d+ ms$/),
          advice: expect.stringContaining('reelgate channel test silent'),
        },
      ]);
      expect(bad(lines)).toEqual(['fail channel silent test']);
      expect(lines).toContainEqual(expect.objectContaining({ subject: 'ledger', grade: 'ok' }));
    },
    TIMEOUT_MS,
  );

  test.each(SERVICES)(
    'a stopped process of %s is named, and the others say what they know',
    async (stopped) => {
      process.kill(program.pid(stopped), 'SIGSTOP');
      const { lines, code } = await examined(program);

      expect(code).toBe(2);
      expect(ofService(lines, stopped)).toMatchObject([HUNG]);
      for (const other of SERVICES.filter((service) => service !== stopped))
        expect(ofService(lines, other).slice(0, 1)).toMatchObject([{ part: '', grade: 'ok' }]);
      expect(lines.filter(({ grade, advice }) => grade !== 'ok' && advice === '')).toEqual([]);
      expect(lines).toContainEqual(expect.objectContaining({ subject: 'ledger', part: '' }));
    },
    TIMEOUT_MS,
  );
});
