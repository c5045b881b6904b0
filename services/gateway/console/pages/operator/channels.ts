import { modelsOfItAlone } from '../../operator-values.ts';
import type { ChannelList } from '../../api/operator-channels.ts';
import { useView } from '../../state/use-view.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Loaded } from '../../parts/loaded.ts';
import { ActList } from './parts/act-list.ts';
import { ChannelCard } from './parts/channel-card.ts';
import { operatorWords } from './operator-words.ts';
import { workWords } from './work-words.ts';

const words = workWords.channels;

export function page(): VNode {
  const view = useView<ChannelList>('/channels', ['channels']);
  return html`<${PageTitle} title=${words.title} />
    <${Loaded} view=${view}>
      ${(list: ChannelList) => html`<${ChannelsView} list=${list} onChanged=${view.refresh} />`}
    <//>`;
}

export function ChannelsView({ list, onChanged }: { list: ChannelList; onChanged: () => void }): VNode {
  const { channels, acts, canOperate } = list;
  return html`
    <p class="lead">${channels.length === 0 ? words.empty : words.intro}</p>
    ${canOperate ? null : html`<p class="quiet" id="may-not-operate">${operatorWords.needsRole('operator', words.needed)}</p>`}
    <div class="channels">
      ${channels.map(
        (channel) =>
          html`<${ChannelCard}
            key=${channel.id}
            channel=${channel}
            canOperate=${canOperate}
            onlyFor=${modelsOfItAlone(channel, channels)}
            onChanged=${onChanged}
          />`,
      )}
    </div>
    <${ActList} acts=${acts} />
  `;
}
