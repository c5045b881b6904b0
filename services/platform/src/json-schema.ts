/** The services take the package from here. With one copy each, a process would load its 63 modules twice. */
export { Ajv } from 'ajv';
export type { ErrorObject, ValidateFunction } from 'ajv';
