import type { ChannelFactory } from '../channel.ts';
import { readExtraFields } from '../extra-fields.ts';
import type { ExtraFields } from '../extra-fields.ts';

/**
 * A channel that passes on the declared extra fields and no others. The attempt carries the checked values. The
 * client's own JSON is removed from the attempt, so an adapter cannot pass on what it has not declared.
 */
export function passExtraFields(fields: ExtraFields, factory: ChannelFactory): ChannelFactory {
  return (settings, clock) => {
    const channel = factory(settings, clock);
    return {
      ...channel,
      submit: (attempt, signal) => {
        const { extraJson, ...order } = attempt.order;
        return channel.submit({ ...attempt, order, extra: readExtraFields(extraJson, fields) }, signal);
      },
    };
  };
}
