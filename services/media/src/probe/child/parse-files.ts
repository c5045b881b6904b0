/* The program of the child process that parses files. It reads one job per line and writes one answer per line. */
import './close-world.ts';
import { readdirSync, rmSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import type { NumberedJob, NumberedOutcome, ProbeJob, ProbeOutcome, Work } from '../probe.ts';

// loaded before the first file, so that the load does not count as its time, and after the modules are closed
const [{ probeFile }, { redrawImage }, { videoThumbnail }, { pictureThumbnail }] = await Promise.all([
  import('../probe-file.ts'),
  import('../images/pictures.ts'),
  import('../thumbnails/video-thumbnail.ts'),
  import('../thumbnails/picture-thumbnail.ts'),
  import('../images/probe-image.ts'),
  import('../containers/probe-container.ts'),
]);

// before the first file: removes the copy of another process's compiled code, or leaves its own for later processes
const compiled = getCompileCacheDir();
if (compiled !== undefined && readdirSync(compiled).length > 0) rmSync(compiled, { recursive: true, force: true });
else flushCompileCache();

const WORKS: Readonly<Record<Work, (job: ProbeJob) => Promise<ProbeOutcome>>> = {
  probe: probeFile,
  redraw: redrawImage,
  thumbnail: videoThumbnail,
  picture_thumbnail: pictureThumbnail,
};

async function answer(job: NumberedJob): Promise<NumberedOutcome> {
  try {
    return { job: job.job, ...(await WORKS[job.work](job)) };
  } catch {
    return { job: job.job, fault: 'broken' };
  }
}

let received = '';
let answered = Promise.resolve();
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (received + chunk).split('\n');
  received = lines.pop() ?? '';
  for (const line of lines)
    answered = answered.then(async () => {
      process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as NumberedJob))}\n`);
    });
});
// the input ends with the parent process; this process then ends, because only the input keeps it running
process.stdout.write('{"ready":true}\n');
