import { describe, expect, it } from 'vitest';
import { decodeEntities } from './text.ts';

describe('entities', () => {
  it('are decoded once, and only real ones', () => {
    expect(decodeEntities('Porter&apos;s &quot;R&amp;D&quot; &lt;b&gt; &#65;&#x1F600; &amp;lt;')).toBe(
      'Porter\'s "R&D" <b> A😀 &lt;',
    );
    expect(decodeEntities('&nbsp; &#0; &#xD800; &#9999999; & ;')).toBe('&nbsp; &#0; &#xD800; &#9999999; & ;');
  });
});
