import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ConfigurationView as Answer } from '../../api/operator-configuration.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable, Facts } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Badge } from '../../parts/state-badge.tsx';
import { At } from '../../parts/time.tsx';
import { LeafList, ValueTree, listLeaves, leafText } from './parts/value-tree.tsx';
import { recordWords } from './record-words.ts';

const words = recordWords.configuration;
/** More matches are counted, not listed. */
const MATCHES_MAX = 200;

type Difference = Answer['differences'][number];

const COLUMNS: readonly Column<Difference>[] = [
  { name: words.key, isHead: true, cell: ({ key }) => <code>{key}</code> },
  { name: words.running, cell: ({ running }) => <code>{leafText(running)}</code> },
  { name: words.inFile, cell: ({ file }) => <code>{leafText(file)}</code> },
  { name: words.takesEffect, cell: ({ needsStart }) => (needsStart ? words.atStart : words.atReload) },
];

export function page(): VNode {
  const view = useView<Answer>('/configuration');
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      <Loaded view={view}>{(answer) => <ConfigurationView view={answer} />}</Loaded>
    </>
  );
}

export function ConfigurationView({ view }: { view: Answer }): VNode {
  const { effective, files, differences, appliedAt, refused, warnings, version } = view;
  return (
    <>
      <Reload refused={refused} isSame={differences.length === 0} />
      <Facts
        facts={[
          [words.applied, <At at={appliedAt} />],
          [words.files, files.map(renderFile)],
          [words.version, version],
        ]}
      />
      {warnings.length === 0 ? null : (
        <>
          <h2>{words.warnings}</h2>
          <ul>
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
      <h2>{words.differences}</h2>
      <DataTable
        caption={words.differences}
        columns={COLUMNS}
        rows={differences}
        keyOf={({ key }) => key}
        empty={words.noDifferences}
      />
      <h2>{words.effective}</h2>
      <Effective effective={effective} />
    </>
  );
}

function renderFile(file: string): VNode {
  return (
    <div key={file}>
      <code>{file}</code>
    </div>
  );
}

/** Shows the outcome of the last reload. */
function Reload({ refused, isSame }: { refused: string | undefined; isSame: boolean }): VNode {
  if (refused !== undefined)
    return (
      <div class="refusal">
        <strong class="bad">
          <span aria-hidden="true">✕</span> {words.refused}
        </strong>
        <p class="error-text">{refused}</p>
        <p>{words.keptOld}</p>
      </div>
    );
  return isSame ? (
    <p>
      <Badge tone="good" shape="●">
        {words.inUse}
      </Badge>
    </p>
  ) : (
    <p>
      <Badge tone="busy" shape="▲">
        {words.differs}
      </Badge>
    </p>
  );
}

function Effective({ effective }: { effective: unknown }): VNode {
  const [find, setFind] = useState('');
  const wanted = find.trim().toLowerCase();
  return (
    <>
      <div class="find">
        <label for="find-key">{words.find}</label>
        <input
          id="find-key"
          type="search"
          value={find}
          placeholder={words.findHint}
          onInput={({ currentTarget }) => setFind(currentTarget.value)}
        />
      </div>
      {wanted === '' ? <ValueTree value={effective} /> : <Found effective={effective} wanted={wanted} />}
    </>
  );
}

function Found({ effective, wanted }: { effective: unknown; wanted: string }): VNode {
  const found = listLeaves(effective).filter(({ path }) => path.toLowerCase().includes(wanted));
  return (
    <>
      <p role="status" class="quiet">
        {words.found(found.length)}
      </p>
      <LeafList leaves={found.slice(0, MATCHES_MAX)} />
    </>
  );
}
