/** Languages that are read as code; `grammar` names the file `tree-sitter-<grammar>.wasm`, null where there is none. */
export interface CodeLanguage {
  readonly language: string;
  readonly grammar: string | null;
  readonly extensions: readonly string[];
  /** Names of interpreters in a `#!` line. */
  readonly interpreters?: readonly string[];
}

const LANGUAGES: readonly CodeLanguage[] = [
  {
    language: 'typescript',
    grammar: 'typescript',
    extensions: ['ts', 'mts', 'cts'],
    interpreters: ['ts-node', 'tsx', 'deno', 'bun'],
  },
  { language: 'tsx', grammar: 'tsx', extensions: ['tsx'] },
  { language: 'javascript', grammar: 'javascript', extensions: ['js', 'jsx', 'mjs', 'cjs'], interpreters: ['node'] },
  {
    language: 'python',
    grammar: 'python',
    extensions: ['py', 'pyi', 'pyw'],
    interpreters: ['python', 'python2', 'python3'],
  },
  { language: 'go', grammar: 'go', extensions: ['go'] },
  { language: 'rust', grammar: 'rust', extensions: ['rs'] },
  { language: 'java', grammar: 'java', extensions: ['java'] },
  { language: 'c', grammar: 'cpp', extensions: ['c', 'h'] },
  { language: 'cpp', grammar: 'cpp', extensions: ['cc', 'cpp', 'cxx', 'c++', 'hh', 'hpp', 'hxx', 'ino', 'cu'] },
  { language: 'csharp', grammar: 'c-sharp', extensions: ['cs'] },
  { language: 'ruby', grammar: 'ruby', extensions: ['rb', 'rake', 'gemspec'], interpreters: ['ruby'] },
  { language: 'php', grammar: 'php', extensions: ['php', 'phtml'], interpreters: ['php'] },
  {
    language: 'bash',
    grammar: 'bash',
    extensions: ['sh', 'bash', 'zsh', 'ksh'],
    interpreters: ['sh', 'bash', 'zsh', 'dash', 'ksh'],
  },
  { language: 'powershell', grammar: 'powershell', extensions: ['ps1', 'psm1', 'psd1'], interpreters: ['pwsh'] },
  { language: 'css', grammar: 'css', extensions: ['css', 'scss', 'less'] },
  { language: 'kotlin', grammar: null, extensions: ['kt', 'kts'] },
  { language: 'swift', grammar: null, extensions: ['swift'] },
  { language: 'scala', grammar: null, extensions: ['scala', 'sc'] },
  { language: 'dart', grammar: null, extensions: ['dart'] },
  { language: 'fsharp', grammar: null, extensions: ['fs', 'fsx'] },
  { language: 'vb', grammar: null, extensions: ['vb', 'bas'] },
  { language: 'sql', grammar: null, extensions: ['sql'] },
  { language: 'protobuf', grammar: null, extensions: ['proto'] },
  { language: 'hcl', grammar: null, extensions: ['tf', 'hcl', 'tfvars'] },
  { language: 'vue', grammar: null, extensions: ['vue'] },
  { language: 'svelte', grammar: null, extensions: ['svelte'] },
  { language: 'lua', grammar: null, extensions: ['lua'], interpreters: ['lua'] },
  { language: 'perl', grammar: null, extensions: ['pl', 'pm'], interpreters: ['perl'] },
  { language: 'r', grammar: null, extensions: ['r'], interpreters: ['Rscript'] },
  { language: 'julia', grammar: null, extensions: ['jl'], interpreters: ['julia'] },
  { language: 'elixir', grammar: null, extensions: ['ex', 'exs'], interpreters: ['elixir'] },
  { language: 'erlang', grammar: null, extensions: ['erl', 'hrl'] },
  { language: 'haskell', grammar: null, extensions: ['hs'] },
  { language: 'clojure', grammar: null, extensions: ['clj', 'cljs', 'cljc', 'edn'] },
  { language: 'objective-c', grammar: null, extensions: ['m', 'mm'] },
  { language: 'zig', grammar: null, extensions: ['zig'] },
  { language: 'graphql', grammar: null, extensions: ['graphql', 'gql'] },
  { language: 'dockerfile', grammar: null, extensions: ['dockerfile'] },
  { language: 'makefile', grammar: null, extensions: ['mk', 'makefile'] },
  { language: 'groovy', grammar: null, extensions: ['groovy', 'gradle'] },
  { language: 'batch', grammar: null, extensions: ['bat', 'cmd'] },
];

const BY_EXTENSION = new Map(
  LANGUAGES.flatMap((entry) => entry.extensions.map((extension) => [extension, entry] as const)),
);
const BY_INTERPRETER = new Map(
  LANGUAGES.flatMap((entry) => (entry.interpreters ?? []).map((name) => [name, entry] as const)),
);

export function languageOfExtension(extension: string): CodeLanguage | null {
  return BY_EXTENSION.get(extension) ?? null;
}

/** `#!/usr/bin/env -S python3.12 -u` → python. */
export function languageOfShebang(firstLine: string): CodeLanguage | null {
  if (!firstLine.startsWith('#!')) return null;
  const words = firstLine.slice(2).trim().split(/\s+/);
  const first = words[0]?.split('/').at(-1);
  const name = first === 'env' ? words.slice(1).find((word) => !word.startsWith('-') && !word.includes('=')) : first;
  if (name === undefined) return null;
  return BY_INTERPRETER.get(name) ?? BY_INTERPRETER.get(name.replace(/[\d.]+$/, '')) ?? null;
}
