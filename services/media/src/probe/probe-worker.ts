import { parentPort } from 'node:worker_threads';
import type { ProbeJob, ProbeOutcome, Work } from './probe.ts';

/* The parsers run here, where a file that holds them up or fills their memory can be ended. They have nobody to talk to. */
globalThis.console = new Proxy(globalThis.console, { get: () => () => undefined });

// loaded before the first file, whose time does not run meanwhile
const [{ probeFile }, { redrawImage }, { posterImage }] = await Promise.all([import('./probe-file.ts'), import('./redraw-image.ts'), import('./poster-image.ts'), import('./probe-image.ts'), import('./probe-container.ts')]);

const WORKS: Readonly<Record<Work, (job: ProbeJob) => Promise<ProbeOutcome>>> = { probe: probeFile, redraw: redrawImage, poster: posterImage };

async function answer(job: ProbeJob): Promise<ProbeOutcome> {
  try {
    return await WORKS[job.work](job);
  } catch {
    return { fault: 'broken' };
  }
}

parentPort?.on('message', (job: ProbeJob) => {
  void answer(job).then((outcome) => {
    parentPort?.postMessage(outcome);
  });
});
parentPort?.postMessage('ready');
