import type { Keys } from '@reelgate/platform/config/config-locations';
import { isRelayAdapter } from '../channels-schema.ts';
import { refuseIf, warn, warnIf } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function checkModelRanges({ models }: ComparedConfig): readonly Finding[] {
  return Object.entries(models).flatMap(([id, { duration: range, resolutions, ratios, defaults }]) => {
    const [least, most] = range;
    const at = (...keys: string[]): Keys => ['models', id, ...keys];
    const { duration = least, resolution, ratio } = defaults;
    return [
      ...refuseIf(least > most, at('duration'), `expected the least before the most; it is [${least}, ${most}]`),
      ...refuseIf(
        duration < least || duration > most,
        at('defaults', 'duration'),
        `expected ${least} to ${most}, the model's own range`,
      ),
      ...refuseIf(
        resolution !== undefined && !resolutions.includes(resolution),
        at('defaults', 'resolution'),
        `expected one of the model's own: ${resolutions.join(', ')}`,
      ),
      ...refuseIf(
        ratio !== undefined && !ratios.includes(ratio),
        at('defaults', 'ratio'),
        `expected one of the model's own: ${ratios.join(', ')}`,
      ),
    ];
  });
}

export function findUnusedModels({ models, channels }: ComparedConfig): readonly Finding[] {
  return Object.keys(models).flatMap((id) => {
    const serving = channels.filter((channel) => Object.hasOwn(channel.models, id));
    if (serving.length === 0)
      return [warn(['models', id], 'no channel has this model; expected it under models of a channel')];
    return warnIf(
      serving.every(({ adapter }) => isRelayAdapter(adapter)),
      ['models', id],
      'only relay channels have this model, and they need no entry here; remove it',
    );
  });
}
