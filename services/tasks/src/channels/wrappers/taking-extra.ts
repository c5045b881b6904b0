import type { ChannelFactory } from '../channel.ts';
import { extraOf } from '../extra-fields.ts';
import type { ExtraFields } from '../extra-fields.ts';

/**
 * An adapter whose upstream takes these fields and no other. The attempt carries the checked values. The client's own JSON is
 * taken out of it, so no adapter can pass on what it has not declared.
 */
export function takingExtra(fields: ExtraFields, factory: ChannelFactory): ChannelFactory {
  return (settings, clock) => {
    const channel = factory(settings, clock);
    return {
      ...channel,
      submit: (attempt, signal) => {
        const { extraJson, ...order } = attempt.order;
        return channel.submit({ ...attempt, order, extra: extraOf(extraJson, fields) }, signal);
      },
    };
  };
}
