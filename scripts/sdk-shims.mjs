// Stands in for the SDK's Node shims in the bundle: the same exports, with the small JSON Schema validator.
import process from 'node:process';

export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
export { process };
