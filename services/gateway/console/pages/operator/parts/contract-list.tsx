import type { VNode } from 'preact';
import type { ContractRow } from '../../../api/operator-money.ts';
import { At } from '../../../parts/time.tsx';
import { booksWords } from '../books-words.ts';
import { listLeaves } from './value-tree.tsx';

const words = booksWords.money;

/** The price contracts by their keys, each with its versions. */
export function ContractList({ contracts }: { contracts: readonly ContractRow[] }): VNode {
  const keys = [...new Set(contracts.map(({ key }) => key))];
  if (keys.length === 0) return <p class="quiet">{words.noContracts}</p>;
  return (
    <>
      <p class="small quiet">{words.contractsNote}</p>
      <div class="contracts">
        {keys.map((key) => (
          <Contract key={key} name={key} versions={contracts.filter((each) => each.key === key)} />
        ))}
      </div>
    </>
  );
}

function Contract({ name, versions }: { name: string; versions: readonly ContractRow[] }): VNode {
  return (
    <section class="card">
      <h3>{name}</h3>
      {versions
        .toSorted((one, other) => other.version - one.version)
        .map((each) => (
          <Version key={each.version} contract={each} />
        ))}
    </section>
  );
}

function Version({ contract: { version, since, isCurrent, terms } }: { contract: ContractRow }): VNode {
  return (
    <details open={isCurrent}>
      <summary>
        {words.version(version)}{' '}
        <span class="small quiet">
          {isCurrent ? `${words.current}, ` : ''}
          {words.since} <At at={since} />
        </span>
      </summary>
      <dl class="leaves">
        {listLeaves(terms).map(({ path, text }) => (
          <div key={path}>
            <dt>
              <code>{path}</code>
            </dt>
            <dd>
              <code>{text}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
