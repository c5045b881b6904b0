import type { VNode } from 'preact';
import { useCalls } from '../../state/calls.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { ChannelCard } from './parts/channel-card.tsx';
import { modelsOfItAlone, useChannels } from './parts/channel-rows.ts';
import type { ChannelRow } from './parts/channel-rows.ts';
import { useOperator } from './parts/use-operator.ts';
import { operatorWords } from './operator-words.ts';
import { workWords } from './work-words.ts';

const ACTS_READ = 100;
const ACTS_SHOWN = 10;

const words = workWords.channels;

export function page(): VNode {
  const { ofTasks, ofRelay, rows, refresh } = useChannels(['channels']);
  const canOperate = useOperator().covers('operator');
  const records = useCalls({}, ['channels'], toActCalls({ limit: ACTS_READ }));
  const acts = listActs(records.data ?? {}, ACTS_SHOWN, 'channel_');
  const onChanged = (): void => {
    refresh();
    records.refresh();
  };
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={ofTasks} alongside={[ofRelay]}>
        {() => <ChannelsView channels={rows} canOperate={canOperate} acts={acts} onChanged={onChanged} />}
      </Loaded>
    </>
  );
}

export interface ChannelsViewProps {
  readonly channels: readonly ChannelRow[];
  readonly canOperate: boolean;
  readonly acts: readonly Act[];
  readonly onChanged: () => void;
}

export function ChannelsView({ channels, canOperate, acts, onChanged }: ChannelsViewProps): VNode {
  return (
    <>
      <p class="lead">{channels.length === 0 ? words.empty : words.intro}</p>
      {canOperate ? null : (
        <p class="quiet" id="may-not-operate">
          {operatorWords.needsRole('operator', words.needed)}
        </p>
      )}
      <div class="channels">
        {channels.map((row) => (
          <ChannelCard
            key={row.channel.id}
            row={row}
            canOperate={canOperate}
            onlyFor={modelsOfItAlone(row, channels)}
            onChanged={onChanged}
          />
        ))}
      </div>
      <ActList acts={acts} />
    </>
  );
}
