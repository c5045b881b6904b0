import type { Keys } from '@reelgate/platform/config/config-locations';
import { isRelayAdapter } from '../channels-schema.ts';
import { refuse, warn } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function checkModelRanges({ models }: ComparedConfig): readonly Finding[] {
  return Object.entries(models).flatMap(
    ([
      id,
      {
        duration: [least, most],
        resolutions,
        ratios,
        defaults,
      },
    ]) => {
      const at = (...keys: string[]): Keys => ['models', id, ...keys];
      const { duration = least, resolution, ratio } = defaults;
      return [
        ...(least > most
          ? [refuse(at('duration'), `expected the least before the most; it is [${least}, ${most}]`)]
          : []),
        ...(duration < least || duration > most
          ? [refuse(at('defaults', 'duration'), `expected ${least} to ${most}, the model's own range`)]
          : []),
        ...(resolution !== undefined && !resolutions.includes(resolution)
          ? [refuse(at('defaults', 'resolution'), `expected one of the model's own: ${resolutions.join(', ')}`)]
          : []),
        ...(ratio !== undefined && !ratios.includes(ratio)
          ? [refuse(at('defaults', 'ratio'), `expected one of the model's own: ${ratios.join(', ')}`)]
          : []),
      ];
    },
  );
}

export function findUnusedModels({ models, channels }: ComparedConfig): readonly Finding[] {
  return Object.keys(models).flatMap((id) => {
    const serving = channels.filter((channel) => Object.hasOwn(channel.models, id));
    if (serving.length === 0)
      return [warn(['models', id], 'no channel has this model; expected it under models of a channel')];
    return serving.every(({ adapter }) => isRelayAdapter(adapter))
      ? [warn(['models', id], 'only relay channels have this model, and they need no entry here; remove it')]
      : [];
  });
}
