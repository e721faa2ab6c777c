import { readCode } from '../../services/common/text/documents/formats/code.ts';
import { languageOfExtension } from '../../services/common/text/documents/formats/code-languages.ts';
import { createGrammars } from '../../services/common/text/documents/formats/tree-sitter.ts';
import { buildCodeGraph, type CodeGraph } from '../../services/search/types/code/code-graph.ts';

/** The graph of files, by path, of one repository. */
export async function codeGraphOf(files: Readonly<Record<string, string>>): Promise<CodeGraph> {
  const grammars = createGrammars();
  const read = Object.entries(files).map(async ([path, text]) => {
    const language = languageOfExtension(path.split('.').at(-1) ?? '');
    if (language === null) throw new Error(path);
    const { code } = await readCode(text, language, grammars);
    return code === undefined ? [] : [{ path, repo: 'shop', facts: code }];
  });
  return buildCodeGraph((await Promise.all(read)).flat());
}
