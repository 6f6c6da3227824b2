import { describe, expect, it } from 'vitest';
import { chunksByDefinition, chunksByHeading, chunksByWindow, createGrammars, languageOf } from './chunks.ts';

const grammars = createGrammars();

async function pieces(path: string, text: string): Promise<string[]> {
  const definitions = await grammars.definitions(languageOf(path), path, text);
  if (definitions === undefined) throw new Error(`no grammar for ${path}`);
  return chunksByDefinition(text.split('\n'), definitions).map(
    ({ kind, symbol, start, end }) => `${kind} ${symbol} ${start + 1}-${end + 1}`,
  );
}

describe('pieces by definition', () => {
  it('knows the languages it has grammars for', async () => {
    const samples: Record<string, [string, string[]]> = {
      'a.py': [
        'class A:\n  def m(self):\n    pass\n\n# Doc\n@dec\ndef f():\n  return 1\n',
        ['class A 1-1', 'function A.m 2-3', 'function f 5-8'],
      ],
      'a.go': [
        'package a\n\n// Doc\nfunc F() {\n}\nfunc (s *S) M() {\n}\ntype S struct {\n}\n',
        ['imports  1-1', 'function F 3-5', 'method M 6-7', 'type S 8-9'],
      ],
      'a.rs': [
        '/// Doc\nfn f() {\n}\nimpl Bar {\n  fn m(&self) {\n  }\n}\n',
        ['function f 1-3', 'struct Bar 4-4', 'function Bar.m 5-6'],
      ],
      'A.java': ['class A {\n  int m() {\n    return 1;\n  }\n}\n', ['class A 1-1', 'method A.m 2-4']],
      'a.cs': ['class A {\n  int M() {\n    return 1;\n  }\n}\n', ['class A 1-1', 'method A.M 2-4']],
      'a.cpp': ['int A::f(int a) {\n  return 1;\n}\n', ['function A::f 1-3']],
      'a.c': ['static char *g(void)\n{\n}\n', ['function g 1-3']],
      'a.php': [
        '<?php\nclass A {\n  function m() {\n  }\n}\n',
        ['code  1-1', 'class A 2-2', 'method A.m 3-4'],
      ],
      'a.rb': ['class A\n  def m\n  end\nend\n', ['class A 1-1', 'method A.m 2-3']],
      'a.sh': ['f() {\n  echo\n}\n', ['function f 1-3']],
      'a.ps1': ['function Get-It {\n  1\n}\n', ['function Get-It 1-3']],
      'a.tsx': ['export function App() {\n  return <b/>;\n}\n', ['function App 1-3']],
    };
    for (const [path, [text, expected]] of Object.entries(samples))
      expect(
        (await pieces(path, text)).filter((piece) => !/^class A 4|end$/.test(piece)),
        path,
      ).toEqual(expect.arrayContaining(expected));
  });

  it('takes the comment above, and names what is in classes and long functions', async () => {
    const inner = Array.from({ length: 90 }, (_, at) => `    use(${at});`).join('\n');
    const text = `import a from 'a';\n\n/**\n * Doc.\n */\nexport const f = () => {\n  return 1;\n};\nexport const LIST = [\n  'one',\n  'two',\n];\nfunction outer() {\n  function inner() {\n${inner}\n  }\n  return inner;\n}\nexports.old = function () {\n  return 2;\n};\n`;
    const found = await pieces('a.ts', text);
    expect(found.slice(0, 3)).toEqual(['imports  1-1', 'function f 3-8', 'constant LIST 9-12']);
    expect(found).toContain('function outer.inner 14-105');
    expect(found.at(-1)).toBe('function exports.old 108-110');
  });
});

describe('pieces without a grammar', () => {
  it('are windows that overlap', () => {
    const lines = Array.from({ length: 130 }, (_, at) => `line ${at}`);
    expect(chunksByWindow(lines).map(({ start, end }) => [start, end])).toEqual([
      [0, 59],
      [50, 109],
      [100, 129],
    ]);
    expect(chunksByWindow(['', '{', '}'])).toEqual([]);
  });

  it('are sections of Markdown', () => {
    const lines = 'intro\n# One\ntext\n```\n# no heading\n```\n## Two ##\nmore'.split('\n');
    expect(chunksByHeading(lines).map(({ symbol, start, end }) => [symbol, start, end])).toEqual([
      ['', 0, 0],
      ['One', 1, 5],
      ['Two', 6, 7],
    ]);
  });
});
