import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadModule } from '../state/load-page.ts';
import { words } from '../words.ts';

interface LoadState<P> {
  readonly part?: ComponentType<P>;
  /** Its file cannot be loaded. */
  readonly isMissing?: true;
}

/** Returns a component whose file is loaded when it is first drawn, so that the page is there before it. */
export function loadLater<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => VNode {
  let known: LoadState<P> = {};
  return function Later(props: P): VNode {
    const [{ part: Part, isMissing }, setStanding] = useState(known);
    useEffect(() => {
      if (Part !== undefined) return;
      loadModule(load).then(
        (part) => {
          known = { part };
          setStanding(known);
        },
        () => setStanding({ isMissing: true }),
      );
    }, []);
    if (Part !== undefined) return <Part {...props} />;
    return isMissing === true ? <MissingPart /> : <p class="quiet">{words.loading}</p>;
  };
}

function MissingPart(): VNode {
  return (
    <div class="refusal" role="alert">
      <p>{words.missingPage.text}</p>
      <button type="button" onClick={() => location.reload()}>
        {words.tryAgain}
      </button>
    </div>
  );
}
