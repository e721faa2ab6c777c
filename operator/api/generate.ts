/**
 * Generates the types of `operator/api` and sections of `crds/docs` from `crds/*.yaml`; with `--check` reports which of them
 * are stale, by exit code 1.
 */
import { parse } from 'yaml';
import { presentText, writeGenerated } from '../../services/common/kernel/generated-files.ts';
import type { CustomResourceDefinition } from './custom-resource-definition.ts';
import { referencePage } from './reference-page.ts';
import { resourceTypes } from './resource-types.ts';

const KINDS = ['tenant', 'dataset'] as const;

const read = (path: string): string => presentText(path) ?? '';

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

process.exitCode = writeGenerated(await generatedFiles(), process.argv[2]);
