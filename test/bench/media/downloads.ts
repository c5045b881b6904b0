import { natsServer } from '../../servers/nats-server.ts';
import { newProgram } from '../../harness/program.ts';
import type { Program, Shape } from '../../harness/program.ts';
import { byTurns, ROUNDS } from '../load.ts';
import type { Line } from '../table.ts';
import { startBareStream } from './bare-stream.ts';
import { downloads } from './download.ts';
import { keepVideo } from './kept-video.ts';
import { startVideoOrigin } from './large-video.ts';
import { memoryMiB, peakMiB } from './memory.ts';

const MIB = 2 ** 20;
const CASES = [
  { what: '1 GiB, one client', bytes: 1024 * MIB, atOnce: 1 },
  { what: '50 MiB, 100 clients at once', bytes: 50 * MIB, atOnce: 100 },
  { what: '300 MB, eight clients at once', bytes: 300_000_000, atOnce: 8 },
];

/** Downloads of results, and the memory of the processes. The baseline is a bare stream of the same file. */
export async function mediaBench(): Promise<readonly Line[]> {
  return [...(await inShape('one program')), ...(await overNats('four processes'))];
}

async function overNats(shape: Shape): Promise<readonly Line[]> {
  const missing = natsServer.missing();
  const nats = missing === undefined ? await natsServer.start() : undefined;
  if (nats === undefined) return [{ what: `downloads, ${shape}`, skipped: missing ?? 'NATS did not start' }];
  try {
    return await inShape(shape, nats.url);
  } finally {
    await nats.stop();
  }
}

async function inShape(shape: Shape, bus?: string): Promise<readonly Line[]> {
  const origin = await startVideoOrigin();
  const program = await newProgram(shape, { upstream: origin.host, ...(bus === undefined ? {} : { bus }) });
  await program.start();
  try {
    const lines: Line[] = [];
    for (const { what, bytes, atOnce } of CASES)
      lines.push(...(await measured(program, origin.url(bytes), { what: `download, ${shape}, ${what}`, atOnce })));
    return lines;
  } finally {
    await program.end();
    await origin.stop();
  }
}

async function measured(
  program: Program,
  url: string,
  { what, atOnce }: { readonly what: string; readonly atOnce: number },
): Promise<readonly Line[]> {
  const { target, file } = await keepVideo(program, url);
  const bare = await startBareStream(file);
  const port = Number(new URL(program.base).port);
  try {
    const before = memoryMiB(program.pids());
    const { result: speed, peak } = await peakMiB(program.pids, () =>
      byTurns(
        ROUNDS,
        async () => (await downloads(bare.port, '/', atOnce)).bytesPerSecond / MIB,
        async () => (await downloads(port, target, atOnce)).bytesPerSecond / MIB,
      ),
    );
    return [
      { what, figure: speed.product, unit: 'MiB/s', baseline: speed.baseline, goal: '0.80 of it' },
      { what: `${what}: memory, and before`, figure: peak, unit: 'MiB', baseline: before },
    ];
  } finally {
    await bare.stop();
  }
}
