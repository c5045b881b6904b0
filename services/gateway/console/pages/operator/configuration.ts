import { useState } from 'preact/hooks';
import type { ConfigurationView as Answer } from '../../api/operator-configuration.ts';
import { useView } from '../../state/use-view.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { Badge } from '../../parts/state-badge.ts';
import { At } from '../../parts/time.ts';
import { ValueTree, listLeaves, leafText } from './parts/value-tree.ts';
import { recordWords } from './record-words.ts';

const words = recordWords.configuration;
/** More matches are counted, not listed. */
const MATCHES_MAX = 200;

type Difference = Answer['differences'][number];

const COLUMNS: readonly Column<Difference>[] = [
  { name: words.key, isHead: true, cell: ({ key }) => html`<code>${key}</code>` },
  { name: words.running, cell: ({ running }) => html`<code>${leafText(running)}</code>` },
  { name: words.inFile, cell: ({ file }) => html`<code>${leafText(file)}</code>` },
  { name: words.takesEffect, cell: ({ needsStart }) => (needsStart ? words.atStart : words.atReload) },
];

export function page(): VNode {
  const view = useView<Answer>('/configuration');
  return html`<${PageTitle} title=${words.title} lead=${words.intro} />
    <${Loaded} view=${view}>${(answer: Answer) => html`<${ConfigurationView} view=${answer} />`}<//>`;
}

export function ConfigurationView({ view }: { view: Answer }): VNode {
  const { effective, files, differences, appliedAt, refused, warnings, version } = view;
  return html`
    <${Reload} refused=${refused} isSame=${differences.length === 0} />
    <dl class="facts">
      <dt>${words.applied}</dt>
      <dd><${At} at=${appliedAt} /></dd>
      <dt>${words.files}</dt>
      <dd>${files.map((file) => html`<div key=${file}><code>${file}</code></div>`)}</dd>
      <dt>${words.version}</dt>
      <dd>${version}</dd>
    </dl>
    ${
      warnings.length === 0
        ? null
        : html`<h2>${words.warnings}</h2>
            <ul>
              ${warnings.map((warning) => html`<li key=${warning}>${warning}</li>`)}
            </ul>`
    }
    <h2>${words.differences}</h2>
    <${DataTable}
      caption=${words.differences}
      columns=${COLUMNS}
      rows=${differences}
      keyOf=${({ key }: Difference) => key}
      empty=${words.noDifferences}
    />
    <h2>${words.effective}</h2>
    <${Effective} effective=${effective} />
  `;
}

/** Shows the outcome of the last reload. */
function Reload({ refused, isSame }: { refused: string | undefined; isSame: boolean }): VNode {
  if (refused !== undefined)
    return html`<div class="refusal">
      <strong class="bad"><span aria-hidden="true">✕</span> ${words.refused}</strong>
      <p class="error-text">${refused}</p>
      <p>${words.keptOld}</p>
    </div>`;
  return isSame
    ? html`<p><${Badge} tone="good" shape="●">${words.inUse}<//></p>`
    : html`<p><${Badge} tone="busy" shape="▲">${words.differs}<//></p>`;
}

function Effective({ effective }: { effective: unknown }): VNode {
  const [find, setFind] = useState('');
  const wanted = find.trim().toLowerCase();
  return html`
    <div class="find">
      <label for="find-key">${words.find}</label>
      <input
        id="find-key"
        type="search"
        value=${find}
        placeholder=${words.findHint}
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
          setFind(currentTarget.value);
        }}
      />
    </div>
    ${wanted === '' ? html`<${ValueTree} value=${effective} />` : html`<${Found} effective=${effective} wanted=${wanted} />`}
  `;
}

function Found({ effective, wanted }: { effective: unknown; wanted: string }): VNode {
  const found = listLeaves(effective).filter(({ path }) => path.toLowerCase().includes(wanted));
  return html`
    <p role="status" class="quiet">${words.found(found.length)}</p>
    <dl class="leaves">
      ${found.slice(0, MATCHES_MAX).map(
        ({ path, text }) =>
          html`<div key=${path}>
            <dt><code>${path}</code></dt>
            <dd><code>${text}</code></dd>
          </div>`,
      )}
    </dl>
  `;
}
