import { CLIENT_FILES } from '../../../console/client-routes.ts';
import { OPERATOR_FILES } from '../../../console/operator-routes.ts';
import type { Door, DoorFiles } from '../../../console/routes.ts';

/** The files that each door serves. Everything else follows from what these files import. */
export const DOOR_FILES: Readonly<Record<Door, DoorFiles>> = { client: CLIENT_FILES, operator: OPERATOR_FILES };

/** The address of a file, below that of all assets of its door. */
export function assetPath(file: string): string {
  return file.replace(/^\.\//, '');
}
