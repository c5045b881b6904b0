import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { PROGRAM_VERSION } from './version.ts';

const COMMIT = /^[0-9a-f]{7,64}$/;

/** Publishes the version of the program. The image names the commit from which it was built. */
export function publishBuild(metrics: Metrics, commit = ''): void {
  metrics
    .gauge('reelgate_build_info', 'The version of this program and the commit that it was built from; always 1', [
      'version',
      'commit',
    ])
    .labels(PROGRAM_VERSION, COMMIT.test(commit) ? commit : 'unknown')
    .set(1);
}
