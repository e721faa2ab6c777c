import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { methodTableText, replaceSubjectMap } from './subject-map.ts';

const README = fileURLToPath(new URL('../../../../proto/README.md', import.meta.url));
const TABLE = fileURLToPath(new URL('../../../../proto/gen/method-table.ts', import.meta.url));

/** `npm run generate` writes the method table and README's subject map; `--check` exits 1 when one is stale. */
function main(mode: string | undefined): number {
  if (mode !== undefined && mode !== '--check') {
    process.stderr.write(`Unknown option ${mode}: give none or --check.\n`);
    return 2;
  }
  const readme = replaceSubjectMap(readFileSync(README, 'utf8'));
  if (readme === null) {
    process.stderr.write('proto/README.md lacks the marks of its subject map.\n');
    return 1;
  }
  const wanted = new Map([
    [README, readme],
    [TABLE, methodTableText()],
  ]);
  for (const [file, text] of wanted) {
    const isFresh = existsSync(file) && readFileSync(file, 'utf8') === text;
    if (isFresh) continue;
    if (mode === '--check') {
      process.stderr.write(`${file} is stale: run npm run generate.\n`);
      return 1;
    }
    writeFileSync(file, text);
  }
  return 0;
}

process.exitCode = main(process.argv[2]);
