import { ADAPTERS } from '../adapters/index.ts';

/** The pattern of the names of adapters. */
export const ADAPTER_NAME_PATTERN = '^[a-z][a-z0-9-]{0,63}$';
const NAME = new RegExp(ADAPTER_NAME_PATTERN);
/** The adapter of the channels of the gateway. This service does not have it. */
const RELAY = 'relay';

/** Returns the reason why an adapter of an operator cannot have the name; undefined if it can. */
export function findNameFault(name: string): string | undefined {
  if (!NAME.test(name))
    return (
      `the name ${JSON.stringify(name)} is no name of an adapter; ` +
      'expected at most 64 small letters, digits and hyphens, a letter first'
    );
  if (name === RELAY || Object.hasOwn(ADAPTERS, name))
    return `the name ${name} belongs to a built-in adapter; expected another name`;
  return undefined;
}
