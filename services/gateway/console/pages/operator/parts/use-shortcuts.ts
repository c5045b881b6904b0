import { useEffect, useRef, useState } from 'preact/hooks';

const KEPT_AS = 'reelgate:shortcuts';
const OFF = 'off';
/** The elements in which a letter is text. */
const TEXT = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], dialog';

/** Returns whether single keys do something on this browser, and the switch for it. */
export function useShortcutSwitch(): readonly [boolean, (isOn: boolean) => void] {
  const [isOn, setOn] = useState(() => readSwitch() !== OFF);
  return [
    isOn,
    (next) => {
      setOn(next);
      storeSwitch(next ? 'on' : OFF);
    },
  ];
}

/** Calls back for single keys, except where a person writes. */
export function useKeys(isOn: boolean, onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest(TEXT) !== null) return;
      latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
    };
  }, [isOn]);
}

/** A browser may refuse its storage. */
function readSwitch(): string | null {
  try {
    return localStorage.getItem(KEPT_AS);
  } catch {
    return null;
  }
}

function storeSwitch(value: string): void {
  try {
    localStorage.setItem(KEPT_AS, value);
  } catch {
    // the switch then holds for this page alone
  }
}
