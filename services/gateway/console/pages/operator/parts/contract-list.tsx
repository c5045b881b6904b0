import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { At } from '../../../parts/time.tsx';
import { booksWords } from '../books-words.ts';
import { LeafList, listLeaves } from './value-tree.tsx';

const words = booksWords.money;

type PriceContract = RpcAnswer<'billing.AccountService/ListPrices'>['contracts'][number];

/** The price contracts by their keys, each with its versions. */
export function ContractList({ contracts }: { contracts: readonly PriceContract[] }): VNode {
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

function Contract({ name, versions }: { name: string; versions: readonly PriceContract[] }): VNode {
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

function Version({ contract: { version, sinceMs, current, termsJson } }: { contract: PriceContract }): VNode {
  return (
    <details open={current}>
      <summary>
        {words.version(version)}{' '}
        <span class="small quiet">
          {current ? `${words.current}, ` : ''}
          {words.since} <At at={Number(sinceMs)} />
        </span>
      </summary>
      <LeafList leaves={listLeaves(JSON.parse(termsJson))} />
    </details>
  );
}
