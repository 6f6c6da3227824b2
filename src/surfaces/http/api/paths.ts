/** Every operation is a route below this one. */
export const BASE = '/api';

/** Where the API is described. */
export const DOCUMENT = '/openapi.json';
