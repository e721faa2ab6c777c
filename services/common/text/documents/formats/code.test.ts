import { expect } from 'chai';
import { cpuTimeMs, expectQuick } from '../../../../../test/support/cpu-time.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { readCode } from './code.ts';
import { languageOfExtension } from './code-languages.ts';
import { createGrammars } from './tree-sitter.ts';

describe('source code', () => {
  const grammars = createGrammars();

  async function read(extension: string, text: string): Promise<readonly DocumentBlock[]> {
    const language = languageOfExtension(extension);
    if (language === null) throw new Error(`no language for ${extension}`);
    const document = await readCode(text, language, grammars);
    expect(document.text).to.equal(text);
    return document.blocks;
  }

  async function symbols(extension: string, text: string): Promise<(string | null)[]> {
    return (await read(extension, text)).map(({ symbol }) => symbol ?? null);
  }

  const padding = (mark: string): string => `${mark} ${'x'.repeat(80)}\n`.repeat(30);

  it('keeps imports together and comments with their definition', async () => {
    const text =
      "import a from 'a';\nimport b from 'b';\n\n// Adds numbers.\n// Always.\nexport function add(a: number): number {\n  return a;\n}\n\nadd(1);\nadd(2);\n\nconst twice = (x: number) => {\n  return x * 2;\n};\n";
    const blocks = await read('ts', text);
    expect(blocks.map(({ symbol, text: part }) => [symbol ?? null, part.trim()])).to.deep.equal([
      [null, "import a from 'a';\nimport b from 'b';"],
      ['add', '// Adds numbers.\n// Always.\nexport function add(a: number): number {\n  return a;\n}'],
      [null, 'add(1);\nadd(2);'],
      ['twice', 'const twice = (x: number) => {\n  return x * 2;\n};'],
    ]);
    expect(blocks.map(({ text: part }) => part).join(''), 'the blocks tile the file').to.equal(text);
  });

  it('names the members of long classes by their path', async () => {
    const text = `@decorated\nclass Ship(Base):\n    """A ship."""\n    size = 1\n\n    # weighs\n    @property\n    def weight(self):\n${padding('        #')}        return 1\n\n    class Mast:\n        pass\n\n\ndef sail():\n    pass\n`;
    expect(await symbols('py', text)).to.deep.equal(['Ship', 'Ship.weight', 'Ship.Mast', 'sail']);
    expect(
      await symbols('py', 'class A:\n    def m(self):\n        pass\n'),
      'a short class stays whole',
    ).to.deep.equal(['A']);
  });

  it('knows the definitions of each language', async () => {
    const cases: readonly (readonly [string, string, readonly (string | null)[]])[] = [
      [
        'js',
        'class A { m() {} }\nfunction* g() {}\nmodule.exports = {\n  a,\n  b,\n};\n',
        ['A', 'g', 'module.exports'],
      ],
      [
        'tsx',
        'export default function App() { return <div/>; }\ninterface P { a: string }\ntype Q = string;\nenum E { A }\n',
        ['App', 'P', 'Q', 'E'],
      ],
      [
        'go',
        'package main\n\n// Server serves.\ntype Server struct{}\n\nfunc (s *Server) Start() {}\n\nfunc main() {}\n',
        [null, 'Server', 'Server.Start', 'main'],
      ],
      [
        'rs',
        'use a::b;\n\n/// A point.\n#[derive(Debug)]\npub struct Point { x: i32 }\n\nimpl Point { fn new() -> Self { todo!() } }\n\ntrait T { fn f(); }\n',
        [null, 'Point', 'Point', 'T'],
      ],
      [
        'java',
        'package a;\n\nimport b;\n\n/** Doc. */\npublic class Main { void run() {} }\n\nrecord R(int a) {}\n',
        [null, 'Main', 'R'],
      ],
      [
        'cpp',
        '#include <a>\n\nclass Ship { void sail(); };\n\nvoid Ship::sail() {}\n\nint *find(int a) { return 0; }\n',
        [null, 'Ship', 'Ship::sail', 'find'],
      ],
      ['h', '#ifndef A_H\n#define A_H\nstruct S { int a; };\n#endif\n', [null, 'S']],
      ['cs', 'namespace N;\n\npublic class A { void M() {} }\n', [null, 'N.A']],
      ['rb', "require 'a'\n\nmodule M\n  class A\n    def m; end\n  end\nend\n", [null, 'M']],
      ['php', '<?php\nnamespace N;\n\nfunction f() {}\n\nclass A { function m() {} }\n', [null, 'N.f', 'N.A']],
      ['sh', '#!/bin/sh\nset -e\n\n# Runs.\nrun() {\n  ls\n}\n', [null, 'run']],
      ['css', '/* base */\nbody { margin: 0 }\n\n.a > .b { color: red }\n', ['body', '.a > .b']],
    ];
    for (const [extension, text, expected] of cases)
      expect(await symbols(extension, text), extension).to.deep.equal(expected);
  });

  it('survives code that does not parse', async () => {
    const blocks = await read('py', 'def broken(:\n    !!!\n\ndef fine():\n    pass\n');
    expect(blocks.map(({ text }) => text).join('')).to.contain('def fine()');
  });

  it('reads long chains of calls, many definitions and unended brackets in linear time', async () => {
    const many = (each: (at: number) => string) => Array.from({ length: 2000 }, (_, at) => each(at)).join('');
    for (const text of [
      `app${many((at) => `.get('/x${at}', handler)`)};`,
      many((at) => `function f${at}() { return f${at + 1}(); }\n`),
      `${many(() => 'get={')}${many((at) => `route({ ...get, path: '/${at}' });\n`)}`,
      `import { ${many(() => 'with{')} } from 'x';`,
      `app.get('/x', wrap(${many(() => 'a'.repeat(20))}));`,
    ]) {
      const start = cpuTimeMs();
      await read('ts', text);
      expectQuick(cpuTimeMs() - start, 2000, text.slice(0, 40));
    }
  });

  it('cuts languages without a grammar at blank lines before unindented lines', async () => {
    const blocks = await read('kt', 'fun a() {\n  one()\n\n  two()\n}\n\nfun b() {\n}\n');
    expect(blocks.map(({ text }) => text.trim())).to.deep.equal(['fun a() {\n  one()\n\n  two()\n}', 'fun b() {\n}']);
    expect(blocks[0]).to.include({ kind: 'code', language: 'kotlin' });
  });
});
