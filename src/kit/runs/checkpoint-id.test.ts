import { describe, expect, it } from 'vitest';
import { checkpointId, pythonJson, stateDigest } from './state-file.ts';

describe('checkpointId', () => {
  it('is the one BMAD computes', () => {
    const variables = { user_name: 'Alice', project_name: 'Démo' };
    expect(checkpointId('dev-story-20260227-143022', 4, variables)).toBe('371774');
    expect(checkpointId('dev-story-20260227-143022', 5, variables)).not.toBe('371774');
  });
});

describe('pythonJson', () => {
  it('writes what json.dumps(sort_keys=True) writes', () => {
    // Printed by Python 3.
    expect(pythonJson({ b: [1, 'é', null, true, {}], a: { z: '"\\\n\t\u007f', y: '😀' } })).toBe(
      '{"a": {"y": "\\ud83d\\ude00", "z": "\\"\\\\\\n\\t\\u007f"}, "b": [1, "\\u00e9", null, true, {}]}',
    );
    expect(pythonJson({ '\uFFFD': 1, '😀': 2, a: undefined })).toBe('{"\\ufffd": 1, "\\ud83d\\ude00": 2}');
  });
});

describe('stateDigest', () => {
  it('does not depend on the order of keys', () => {
    expect(stateDigest({ a: 1, b: { c: 2, d: 3 } })).toBe(stateDigest({ b: { d: 3, c: 2 }, a: 1 }));
    expect(stateDigest({ a: 1 })).not.toBe(stateDigest({ a: 2 }));
  });
});
