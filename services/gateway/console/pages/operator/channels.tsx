import type { VNode } from 'preact';
import { modelsOfItAlone } from '../../operator-values.ts';
import type { ChannelList } from '../../api/operator-channels.ts';
import { useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { ChannelCard } from './parts/channel-card.tsx';
import { operatorWords } from './operator-words.ts';
import { workWords } from './work-words.ts';

const ACTS_READ = 100;
const ACTS_SHOWN = 10;

const words = workWords.channels;

export function page(): VNode {
  const view = useView<ChannelList>('/channels', ['channels']);
  const records = useCalls({}, ['channels'], toActCalls({ limit: ACTS_READ }));
  const acts = listActs(records.data ?? {}, ACTS_SHOWN, 'channel_');
  const onChanged = (): void => {
    view.refresh();
    records.refresh();
  };
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view}>{(list) => <ChannelsView list={list} acts={acts} onChanged={onChanged} />}</Loaded>
    </>
  );
}

export interface ChannelsViewProps {
  readonly list: ChannelList;
  readonly acts: readonly Act[];
  readonly onChanged: () => void;
}

export function ChannelsView({ list, acts, onChanged }: ChannelsViewProps): VNode {
  const { channels, canOperate } = list;
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
