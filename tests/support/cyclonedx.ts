/**
 * What CycloneDX 1.6 asks of the parts we use: required fields, kinds, patterns, and no field that it does not know
 * (https://cyclonedx.org/docs/1.6/json/). Other parts are refused here, so that a new one is checked too.
 */
const text = { type: 'string', minLength: 1 } as const;
const object = (required: string[], properties: Record<string, object>): object => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const list = (items: object, more: object = {}): object => ({
  type: 'array',
  items,
  uniqueItems: true,
  ...more,
});

const license = object(['license'], { license: object(['id'], { id: text }) });
const expression = object(['expression'], { expression: text });

const component = object(['type', 'name'], {
  type: {
    enum: [
      'application',
      'framework',
      'library',
      'container',
      'platform',
      'operating-system',
      'device',
      'device-driver',
      'firmware',
      'file',
      'machine-learning-model',
      'data',
      'cryptographic-asset',
    ],
  },
  'bom-ref': text,
  group: text,
  name: text,
  version: text,
  description: text,
  scope: { enum: ['required', 'optional', 'excluded'] },
  hashes: list(
    object(['alg', 'content'], {
      alg: { enum: ['SHA-256', 'SHA-384', 'SHA-512'] },
      content: { type: 'string', pattern: '^(?:[a-f0-9]{64}|[a-f0-9]{96}|[a-f0-9]{128})$' },
    }),
  ),
  // Either licences, or one expression and nothing else.
  licenses: { oneOf: [list(license, { minItems: 1 }), list(expression, { minItems: 1, maxItems: 1 })] },
  purl: { type: 'string', pattern: '^pkg:npm/(?:%40[\\w.-]+/)?[\\w.-]+@[\\w.+-]+$' },
  properties: list(object([], { name: text, value: text })),
});

export const CYCLONEDX_SCHEMA = object(['bomFormat', 'specVersion', 'serialNumber', 'version'], {
  bomFormat: { const: 'CycloneDX' },
  specVersion: { const: '1.6' },
  serialNumber: {
    type: 'string',
    pattern: '^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  },
  version: { type: 'integer', minimum: 1 },
  metadata: object([], {
    lifecycles: list(
      object(['phase'], {
        phase: {
          enum: ['design', 'pre-build', 'build', 'post-build', 'operations', 'discovery', 'decommission'],
        },
      }),
    ),
    component,
  }),
  components: list(component),
  dependencies: list(object(['ref'], { ref: text, dependsOn: list(text) })),
});

export interface Sbom {
  metadata: { component: SbomComponent };
  components: SbomComponent[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

export interface SbomComponent {
  type: string;
  'bom-ref': string;
  group?: string;
  name: string;
  version: string;
  scope?: string;
  hashes?: { alg: string; content: string }[];
  licenses: { license?: { id: string }; expression?: string }[];
}
