/**
 * Generates the types of `operator/api` and sections of `crds/docs` from `crds/*.yaml`; with `--check` reports which of them
 * are stale, by exit code 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { referencePage } from './reference-page.ts';
import { resourceTypes } from './resource-types.ts';

const ROOT = new URL('../../', import.meta.url);
const KINDS = ['tenant', 'dataset'] as const;

const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8');

/** Contents of the generated files by path from the root. */
async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const kind of KINDS) {
    const source = `crds/${kind}s.engram.dev.yaml`;
    const crd = parse(read(source)) as CustomResourceDefinition;
    files.set(`operator/api/${kind}.ts`, await resourceTypes(crd, source));
    const page = `crds/docs/${kind}.md`;
    files.set(page, referencePage(read(page), crd, read(`crds/examples/${kind}-full.yaml`)));
  }
  return files;
}

function present(path: string): string | null {
  try {
    return read(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function main(isCheck: boolean): Promise<number> {
  let stale = 0;
  for (const [path, text] of await generatedFiles()) {
    if (present(path) === text) continue;
    if (isCheck) {
      process.stderr.write(`${path} is stale: npm run generate\n`);
      stale += 1;
    } else {
      writeFileSync(fileURLToPath(new URL(path, ROOT)), text);
    }
  }
  return stale === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.includes('--check'));
