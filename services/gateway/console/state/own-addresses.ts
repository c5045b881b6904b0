import { options } from 'preact';
import { toBrowserPath } from './root.ts';

/** The attributes of an element that hold an address. */
const ADDRESSES = ['href', 'src', 'action', 'poster'] as const;
const OWN_PATH = /^\/(console|docs)(?=$|[/?#])/;

/** From here on paths of this service, wherever a page names one, get the prefix of a proxy. */
export function prefixOwnAddresses(): void {
  options.vnode = ({ type, props }) => {
    if (typeof type === 'string') prefixAddresses(props);
  };
}

function prefixAddresses(props: Record<string, unknown>): void {
  for (const name of ADDRESSES) {
    const path = props[name];
    if (typeof path === 'string' && OWN_PATH.test(path)) props[name] = toBrowserPath(path);
  }
}
