import { parentPort } from 'node:worker_threads';
import { probeFile } from './probe-file.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

/* The parsers run here, where a file that holds them up or fills their memory can be ended. They have nobody to talk to. */
globalThis.console = new Proxy(globalThis.console, { get: () => () => undefined });

async function answer(job: ProbeJob): Promise<ProbeOutcome> {
  try {
    return await probeFile(job);
  } catch {
    return { fault: 'broken' };
  }
}

parentPort?.on('message', (job: ProbeJob) => {
  void answer(job).then((outcome) => {
    parentPort?.postMessage(outcome);
  });
});
