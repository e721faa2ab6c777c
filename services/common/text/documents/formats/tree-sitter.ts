import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Language } from 'web-tree-sitter';

/** Grammars of one worker, cached: compiling one costs 5–35 ms. */
export type Grammars = ReturnType<typeof createGrammars>;

/** Loads the runtime with the first code file: most processes never read one. */
const loadRuntime = () => import('web-tree-sitter');

export function createGrammars() {
  const languages = new Map<string, Promise<Language>>();
  const load = async (grammar: string): Promise<Language> => {
    const { Language, Parser } = await loadRuntime();
    await Parser.init();
    const main = createRequire(import.meta.url).resolve('@vscode/tree-sitter-wasm');
    return Language.load(join(dirname(main), `tree-sitter-${grammar}.wasm`));
  };
  return {
    /** Returns a parser for one parse; the caller deletes it. */
    async parser(grammar: string) {
      const loading = languages.get(grammar) ?? load(grammar);
      languages.set(grammar, loading);
      const language = await loading; // the constructor of a parser needs the runtime, which this loads
      const { Parser } = await loadRuntime();
      const parser = new Parser();
      parser.setLanguage(language);
      return parser;
    },
  };
}
