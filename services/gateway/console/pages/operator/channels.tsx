import type { VNode } from 'preact';
import { modelsOfItAlone } from '../../operator-values.ts';
import type { ChannelList } from '../../api/operator-channels.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ActList } from './parts/act-list.tsx';
import { ChannelCard } from './parts/channel-card.tsx';
import { operatorWords } from './operator-words.ts';
import { workWords } from './work-words.ts';

const words = workWords.channels;

export function page(): VNode {
  const view = useView<ChannelList>('/channels', ['channels']);
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view}>{(list) => <ChannelsView list={list} onChanged={view.refresh} />}</Loaded>
    </>
  );
}

export function ChannelsView({ list, onChanged }: { list: ChannelList; onChanged: () => void }): VNode {
  const { channels, acts, canOperate } = list;
  return (
    <>
      <p class="lead">{channels.length === 0 ? words.empty : words.intro}</p>
      {canOperate ? null : (
        <p class="quiet" id="may-not-operate">
          {operatorWords.needsRole('operator', words.needed)}
        </p>
      )}
      <div class="channels">
        {channels.map((channel) => (
          <ChannelCard
            key={channel.id}
            channel={channel}
            canOperate={canOperate}
            onlyFor={modelsOfItAlone(channel, channels)}
            onChanged={onChanged}
          />
        ))}
      </div>
      <ActList acts={acts} />
    </>
  );
}
